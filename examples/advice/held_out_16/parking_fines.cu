// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block has 32 copies of its counters in shared memory, one for each lane, and adds them up at its end.
// Why: most tickets are from a few streets of the centre, so the lanes of a warp queue up for the same counters.
#include "../common.h"

enum { BLOCK = 256, ZONES = 24 };

#ifdef AFTER
enum { COPIES = 32 };
#else
enum { COPIES = 1 };
#endif

struct Takings {
    unsigned tickets;
    unsigned long long cents;
};

// Tickets and fines of each parking zone. A ticket: its zone in the lowest five bits, above them its cents.
__global__ void __launch_bounds__(BLOCK) by_zone(const unsigned *tickets, Takings *zones, int count) {
    __shared__ unsigned number[ZONES * COPIES], cents[ZONES * COPIES];
    for (int i = threadIdx.x; i < ZONES * COPIES; i += BLOCK)
        number[i] = cents[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned ticket = tickets[i], counter = (ticket & 31) * COPIES + threadIdx.x % COPIES;
        atomicAdd(&number[counter], 1u);
        atomicAdd(&cents[counter], ticket >> 5);
    }
    __syncthreads();
    if (threadIdx.x < ZONES) {
        unsigned all = 0, sum = 0;
        for (int c = 0; c < COPIES; c++) {
            int copy = threadIdx.x * COPIES + (threadIdx.x + c) % COPIES;
            all += number[copy];
            sum += cents[copy];
        }
        atomicAdd(&zones[threadIdx.x].tickets, all);
        atomicAdd(&zones[threadIdx.x].cents, (unsigned long long)sum);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parking_fines");
    int count = p.small ? 200000 : 40000000;
    std::vector<unsigned> tickets(count);
    std::vector<Takings> expected(ZONES, Takings{0, 0});
    unsigned seed = 1;
    for (unsigned &ticket : tickets) {
        unsigned where = lcg_next(&seed, 100), fine = 1000 + 500 * lcg_next(&seed, 12);
        unsigned zone = where < 60 ? 7 : where < 80 ? 8 : lcg_next(&seed, ZONES);
        ticket = zone | fine << 5;
        expected[zone].tickets++;
        expected[zone].cents += fine;
    }
    unsigned *d_tickets = device_copy_of(tickets.data(), count);
    Takings *d_zones = device_array<Takings>(ZONES);
    int grid = p.small ? 16 : 132 * 8;
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_zones, 0, ZONES * sizeof(Takings)));
        by_zone<<<grid, BLOCK>>>(d_tickets, d_zones, count);
    });
    std::vector<Takings> zones = host_copy_of(d_zones, ZONES);
    for (int z = 0; z < ZONES; z++) {
        pair_near(&p, "tickets", z, expected[z].tickets, zones[z].tickets, 0);
        pair_near(&p, "cents", z, (double)expected[z].cents, (double)zones[z].cents, 0);
    }
    return pair_end(&p);
}
