// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block counts its own passengers in shared memory, and adds its counts to the station's at the end.
// Why: all blocks of a station add to the same few counters in global memory, once a passenger.
#include "../common.h"

enum { BLOCK = 256, GATES = 24 };

// Passengers through the turnstiles of each station: how many through each gate, and how many zones they have paid for.
__global__ void count(const unsigned *tickets, unsigned *passengers, unsigned *zones, int each, unsigned today) {
    int station = blockIdx.y, first = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ unsigned counts[GATES], sums[GATES];
    if (threadIdx.x < GATES)
        counts[threadIdx.x] = sums[threadIdx.x] = 0;
    __syncthreads();
#else
    unsigned *counts = passengers + station * GATES, *sums = zones + station * GATES;
#endif
    for (int k = first; k < each; k += gridDim.x * BLOCK) {
        unsigned ticket = tickets[(size_t)station * each + k];  // 8 bits for the gate, 8 the zones, 8 the day
        unsigned gate = ticket & 255, paid = ticket >> 8 & 255, age = today - (ticket >> 16);
        if (gate < GATES && age < 200) {
            atomicAdd(&counts[gate], 1u);
            atomicAdd(&sums[gate], age < 7 ? 2 * paid : paid);
        }
    }
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < GATES) {
        atomicAdd(&passengers[station * GATES + threadIdx.x], counts[threadIdx.x]);
        atomicAdd(&zones[station * GATES + threadIdx.x], sums[threadIdx.x]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "turnstiles");
    int stations = p.small ? 4 : 132, each = p.small ? 2000 : 32000, blocks = p.small ? 2 : 8;
    size_t n = (size_t)stations * each, m = (size_t)stations * GATES;
    std::vector<unsigned> tickets(n);
    unsigned seed = 1, today = 255;
    for (unsigned &ticket : tickets) {
        unsigned gate = lcg_next(&seed, GATES + 2), paid = 1 + lcg_next(&seed, 5);
        ticket = gate | paid << 8 | lcg_next(&seed, 256) << 16;
    }
    unsigned *d_tickets = device_copy_of(tickets.data(), n), *d_passengers = device_array<unsigned>(m),
             *d_zones = device_array<unsigned>(m);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_passengers, 0, m * sizeof(unsigned)));
        CUDA_CHECK(cudaMemsetAsync(d_zones, 0, m * sizeof(unsigned)));
        count<<<dim3(blocks, stations), BLOCK>>>(d_tickets, d_passengers, d_zones, each, today);
    });
    std::vector<unsigned> passengers = host_copy_of(d_passengers, m), zones = host_copy_of(d_zones, m), counts(m),
                          sums(m);
    for (size_t i = 0; i < n; i++) {
        unsigned gate = tickets[i] & 255, paid = tickets[i] >> 8 & 255, age = today - (tickets[i] >> 16);
        if (gate < GATES && age < 200) {
            counts[i / each * GATES + gate]++;
            sums[i / each * GATES + gate] += age < 7 ? 2 * paid : paid;
        }
    }
    for (size_t i = 0; i < m; i++) {
        pair_near(&p, "passengers", i, counts[i], passengers[i], 0);
        pair_near(&p, "zones", i, sums[i], zones[i], 0);
    }
    return pair_end(&p);
}
