// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the blocks take the festivals in turn, like cards that are dealt, not each block its share in one piece.
// Why: festivals are listed from the largest to the smallest, so the first blocks, and with one block on an SM the
// first SMs, have most of the work and the others wait.
#include "../common.h"

enum { LANES = 32, WARPS = 32 };

struct Concert {
    float price;
    unsigned short seats, fame;
};

struct Income {
    float sum, best;
};

__host__ __device__ inline float demand(unsigned fame, float price) { return (10.0f + fame) * expf(-0.02f * price); }

// Income of each festival from the tickets of its concerts, concerts[first[f]] to concerts[first[f + 1]] - 1;
// one warp for a festival. The number of festivals is a multiple of the number of blocks.
__global__ void __launch_bounds__(LANES *WARPS)
    sell_tickets(const Concert *__restrict__ concerts, const int *__restrict__ first, Income *incomes, int festivals) {
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, share = festivals / gridDim.x;
    for (int turn = warp; turn < share; turn += WARPS) {
#ifdef AFTER
        int f = turn * gridDim.x + blockIdx.x;
#else
        int f = blockIdx.x * share + turn;
#endif
        Income income = {0, 0};
        int end = first[f + 1];
        for (int k = first[f] + lane; k < end; k += LANES) {
            Concert concert = concerts[k];
            float sold = fminf(concert.seats, demand(concert.fame, concert.price));
            float money = sold * concert.price;
            income.sum += money;
            income.best = fmaxf(income.best, money);
        }
        for (int step = LANES / 2; step > 0; step /= 2) {
            income.sum += __shfl_xor_sync(0xffffffffu, income.sum, step);
            income.best = fmaxf(income.best, __shfl_xor_sync(0xffffffffu, income.best, step));
        }
        if (lane == 0)
            incomes[f] = income;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "festivals");
    int blocks = p.small ? 2 : 132, n = p.small ? 128 : blocks * WARPS * 6;
    float largest = p.small ? 400.0f : 3200.0f;
    std::vector<int> first(n + 1);
    for (int f = 0; f < n; f++) {
        float rank = 1 - (float)f / n;
        first[f + 1] = first[f] + 8 + (int)(largest * rank * rank * rank);
    }
    size_t count = first[n];
    std::vector<Concert> concerts(count);
    unsigned seed = 1;
    for (Concert &concert : concerts) {
        unsigned a = lcg_next(&seed, 1 << 24), b = lcg_next(&seed, 1 << 24);
        concert.price = 5 + 0.01f * (a & 8191);
        concert.seats = 50 + (b & 1023);
        concert.fame = b >> 12;
    }
    Concert *d_concerts = device_copy_of(concerts.data(), count);
    int *d_first = device_copy_of(first.data(), n + 1);
    Income *d_incomes = device_array<Income>(n);
    pair_time(&p, [&] { sell_tickets<<<blocks, LANES * WARPS>>>(d_concerts, d_first, d_incomes, n); });
    std::vector<Income> incomes = host_copy_of(d_incomes, n);
    for (int f = 0; f < n; f += p.small ? 1 : 23) {
        double sum = 0, best = 0;
        for (int k = first[f]; k < first[f + 1]; k++) {
            const Concert &concert = concerts[k];
            double wanted = (10.0 + concert.fame) * exp(-0.02 * concert.price);
            double money = std::min((double)concert.seats, wanted) * concert.price;
            sum += money;
            best = std::max(best, money);
        }
        pair_near(&p, "sum", f, sum, incomes[f].sum, 1e-4);
        pair_near(&p, "best", f, best, incomes[f].best, 1e-4);
    }
    return pair_end(&p);
}
