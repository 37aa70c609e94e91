// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: villages are dealt to the blocks in turn, in place of one run of villages per block.
// Why: village i is compared with the i before it, so the blocks with the last runs had most of the work.
#include "../common.h"

enum { BLOCK = 256, WORDS = 16 };  // 64 sounds per village, 4 in a word

// Word w of village v is sounds[w * villages + v]. For each village: the earlier village whose dialect is the nearest
// (the fewest sounds differ), and how many sounds those are: key = differing sounds << 16 | village.
__global__ void nearest_dialect(const unsigned *sounds, unsigned *nearest, int villages) {
    __shared__ unsigned best;
#ifdef AFTER
    int first = blockIdx.x, end = villages, step = gridDim.x;
#else
    int run = (villages + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * run, end = min(villages, first + run), step = 1;
#endif
    for (int v = first; v < end; v += step) {
        if (threadIdx.x == 0)
            best = ~0u;
        unsigned own[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            own[w] = sounds[w * villages + v];
        unsigned mine = ~0u;
        for (int other = threadIdx.x; other < v; other += BLOCK) {
            int same = 0;
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                same += __popc(__vcmpeq4(own[w], sounds[w * villages + other]));
            mine = min(mine, (unsigned)(4 * WORDS - same / 8) << 16 | other);
        }
        mine = __reduce_min_sync(~0u, mine);
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            atomicMin(&best, mine);
        __syncthreads();
        if (threadIdx.x == 0)
            nearest[v] = best;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dialects");
    int villages = p.small ? 150 : 6072, blocks = p.small ? 6 : 264;
    std::vector<unsigned> sounds((size_t)villages * WORDS);
    unsigned seed = 5;
    for (unsigned &s : sounds)
        s = lcg_next(&seed, 5) << 24 | lcg_next(&seed, 5) << 16 | lcg_next(&seed, 5) << 8 | lcg_next(&seed, 5);
    unsigned *d_sounds = device_copy_of(sounds.data(), sounds.size()), *d_nearest = device_array<unsigned>(villages);
    pair_time(&p, [&] { nearest_dialect<<<blocks, BLOCK>>>(d_sounds, d_nearest, villages); });
    std::vector<unsigned> nearest = host_copy_of(d_nearest, villages);
    for (int v = 0; v < villages; v += p.small ? 1 : 101) {
        unsigned best = ~0u;
        for (int other = 0; other < v; other++) {
            unsigned differ = 0;
            for (int w = 0; w < WORDS; w++) {
                unsigned x = sounds[w * villages + v] ^ sounds[w * villages + other];
                for (int b = 0; b < 32; b += 8)
                    differ += (x >> b & 255) != 0;
            }
            best = std::min(best, differ << 16 | other);
        }
        pair_near(&p, "nearest", v, best, nearest[v], 0);
    }
    return pair_end(&p);
}
