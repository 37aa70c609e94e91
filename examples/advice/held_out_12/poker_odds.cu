// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block counts in shared memory and adds its counts to the global ones once.
// Why: millions of hands add to nine counters, and half of them to the same one.
#include "../common.h"

enum { BLOCK = 256, KINDS = 9, HANDS = 8 };

static __host__ __device__ inline unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state ^ *state >> 16) * 0x7feb352du >> 8;
}

// Kind of a hand of five cards: 0 high card, 1 pair, 2 two pairs, 3 three, 4 straight, 5 flush, 6 full house, 7 four,
// 8 straight flush.
static __host__ __device__ inline int dealt_kind(unsigned *random) {
    unsigned long long dealt = 0, ranks = 0;  // `ranks` has four bits for each of 13
    unsigned present = 0;
    int suits = 0;
    for (int cards = 0; cards < 5;) {
        unsigned card = next_random(random) % 52u;
        if (dealt >> card & 1)
            continue;
        dealt |= 1ull << card;
        ranks += 1ull << (card % 13u * 4);
        present |= 1u << card % 13u;
        suits |= 1 << card / 13u;
        cards++;
    }
    bool flush = (suits & (suits - 1)) == 0;
    unsigned lowest = present & (0u - present);
    bool straight = present == lowest * 31u || present == 0x100fu;
    if (flush || straight)
        return flush && straight ? 8 : flush ? 5 : 4;
    unsigned long long ones = ranks & 0x1111111111111ull, twos = ranks >> 1 & 0x1111111111111ull;
    bool four = ranks & 0x4444444444444ull, three = ones & twos;
    unsigned long long pairs = twos & ~ones;
    if (four)
        return 7;
    if (three)
        return pairs ? 6 : 3;
    return pairs ? (pairs & (pairs - 1) ? 2 : 1) : 0;
}

__global__ void poker_odds(unsigned *counts) {
    unsigned random = (blockIdx.x * BLOCK + threadIdx.x) * 2654435761u + 7u;
#ifdef AFTER
    __shared__ unsigned own[KINDS];
    if (threadIdx.x < KINDS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int hand = 0; hand < HANDS; hand++)
        atomicAdd(&own[dealt_kind(&random)], 1u);
    __syncthreads();
    if (threadIdx.x < KINDS)
        atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
#else
    for (int hand = 0; hand < HANDS; hand++)
        atomicAdd(&counts[dealt_kind(&random)], 1u);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "poker_odds");
    int threads = p.small ? 1 << 10 : 1 << 19;
    unsigned *d_counts = device_array<unsigned>(KINDS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_counts, 0, KINDS * sizeof(unsigned)));
        poker_odds<<<threads / BLOCK, BLOCK>>>(d_counts);
    });
    std::vector<unsigned> counts = host_copy_of(d_counts, KINDS), expected(KINDS);
    for (int i = 0; i < threads; i++) {
        unsigned random = (unsigned)i * 2654435761u + 7u;
        for (int hand = 0; hand < HANDS; hand++)
            expected[dealt_kind(&random)]++;
    }
    for (int kind = 0; kind < KINDS; kind++)
        pair_near(&p, "count", kind, expected[kind], counts[kind], 0);
    return pair_end(&p);
}
