// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: as many blocks are started as the resampled polls need; it was always 80, one for each multiprocessor of the
//         card this was written for.
// Why: 80 blocks leave 52 of the 132 multiprocessors with nothing to do and give the others eight warps each, too few
//      to hide the table look-ups of the draws.
#include "../common.h"

enum { BLOCK = 256, MOST_ASKED = 2048 };

// One who was asked: for which party, and how many voters they stand for.
struct Answer {
    int party;
    unsigned weight;
};

__host__ __device__ static inline unsigned first_state(unsigned replicate, unsigned seed) {
    unsigned x = replicate * 0x9e3779b9u ^ seed;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    return x ^ x >> 13;
}

__host__ __device__ static inline unsigned draw(unsigned *state, unsigned count) {
    *state = *state * 747796405u + 2891336453u;
    unsigned word = (*state >> 15 ^ *state) & 0xffff;
    return word * count >> 16;
}

// Ballots for party 0 count up, those for party 1 down, others not at all.
__host__ __device__ static inline int lead_of(const Answer &a) {
    return a.party == 0 ? (int)a.weight : a.party == 1 ? -(int)a.weight : 0;
}

// Bootstrap of the lead in a poll: each replicate asks as many people as the poll did, drawn with replacement.
__global__ void __launch_bounds__(BLOCK)
    resample(const Answer *__restrict__ poll, int asked, unsigned seed, int replicates, int *__restrict__ lead) {
    __shared__ int worth[MOST_ASKED];
    for (int i = threadIdx.x; i < asked; i += BLOCK)
        worth[i] = lead_of(poll[i]);
    __syncthreads();
    for (int r = blockIdx.x * BLOCK + threadIdx.x; r < replicates; r += gridDim.x * BLOCK) {
        unsigned state = first_state(r, seed);
        int sum = 0;
        for (int k = 0; k < asked; k++)
            sum += worth[draw(&state, asked)];
        lead[r] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pollsters");
    int asked = p.small ? 20 : 1003, replicates = (p.small ? 264 : 528) * BLOCK;
    unsigned seed = 2024;
    std::vector<Answer> poll;
    for (int i = 0; i < asked; i++) {
        unsigned x = lcg_next(&seed, 100);
        poll.push_back({x < 38 ? 0 : x < 74 ? 1 : 2, 400 + lcg_next(&seed, 1200)});
    }
    Answer *d_poll = device_copy_of(poll.data(), asked);
    int *d_lead = device_array<int>(replicates);
#ifdef AFTER
    int blocks = (replicates + BLOCK - 1) / BLOCK;
#else
    int blocks = 80;
#endif
    pair_time(&p, [&] { resample<<<blocks, BLOCK>>>(d_poll, asked, seed, replicates, d_lead); });
    std::vector<int> lead = host_copy_of(d_lead, replicates);
    for (int r = 0; r < replicates; r += 11) {
        unsigned state = first_state(r, seed);
        long sum = 0;
        for (int k = 0; k < asked; k++)
            sum += lead_of(poll[draw(&state, asked)]);
        pair_near(&p, "lead", r, (double)sum, lead[r], 0);
    }
    std::sort(lead.begin(), lead.end());
    printf("lead between %d and %d voters\n", lead[replicates / 40], lead[replicates - 1 - replicates / 40]);
    return pair_end(&p);
}
