// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that draws a ticket is inlined.
// Why: it is a dozen instructions; the call, and the state of the drum that goes through local memory, cost as much.
#include "../common.h"

enum { BLOCK = 256, PRIZES = 64 };

#ifdef AFTER
#define INLINING __forceinline__
#else
#define INLINING __noinline__
#endif

struct Drum {
    unsigned a, b, c, count;
};

// Marsaglia's xorshift with a Weyl sequence; from 0 to tickets - 1.
__host__ __device__ INLINING unsigned draw(Drum *drum, unsigned tickets) {
    unsigned t = drum->a ^ (drum->a << 10);
    drum->a = drum->b;
    drum->b = drum->c;
    drum->c = drum->c ^ (drum->c >> 13) ^ t ^ (t >> 10);
    drum->count += 362437u;
    return (unsigned)(((unsigned long long)(drum->c + drum->count) * tickets) >> 32);
}

static __host__ __device__ Drum filled_drum(unsigned i) {
    Drum drum = {i * 2654435761u + 1, i ^ 0x5bd1e995u, 521288629u, i};
    return drum;
}

// Evenings at a raffle: each round a visitor draws, and a ticket below 64 wins its prize; for a blank he may pay for a
// second draw while he has money. One thread per evening: the purse at the end and the best prize.
__global__ void evenings(const int *prizes, int *purses, int *best, int n, int rounds, unsigned tickets, int price) {
    __shared__ int table[PRIZES];
    if (threadIdx.x < PRIZES)
        table[threadIdx.x] = prizes[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Drum drum = filled_drum(i);
    int purse = 200, most = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned ticket = draw(&drum, tickets);
        purse -= price;
        if (ticket >= PRIZES && purse > 100) {
            ticket = draw(&drum, tickets);
            purse -= price;
        }
        int won = ticket < PRIZES ? table[ticket] : 0;
        purse += won;
        most = max(most, won);
    }
    purses[i] = purse;
    best[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "raffles");
    int n = p.small ? 1024 : 132 * 4096, rounds = p.small ? 20 : 150, price = 2;
    unsigned tickets = 500;
    std::vector<int> prizes(PRIZES);
    lcg_fill(prizes.data(), PRIZES, 1, 30);
    int *d_prizes = device_copy_of(prizes.data(), PRIZES), *d_purses = device_array<int>(n),
        *d_best = device_array<int>(n);
    pair_time(&p, [&] {
        evenings<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_prizes, d_purses, d_best, n, rounds, tickets, price);
    });
    std::vector<int> purses = host_copy_of(d_purses, n), best = host_copy_of(d_best, n);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        Drum drum = filled_drum(i);
        int purse = 200, most = 0;
        for (int r = 0; r < rounds; r++) {
            unsigned ticket = draw(&drum, tickets);
            purse -= price;
            if (ticket >= PRIZES && purse > 100) {
                ticket = draw(&drum, tickets);
                purse -= price;
            }
            int won = ticket < PRIZES ? prizes[ticket] : 0;
            purse += won;
            most = std::max(most, won);
        }
        pair_near(&p, "purse", i, purse, purses[i], 1e-9);
        pair_near(&p, "best", i, most, best[i], 1e-9);
    }
    return pair_end(&p);
}
