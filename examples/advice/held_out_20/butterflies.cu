// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the blocks take every 132nd photograph instead of a run of neighbours each.
// Why: a photograph is compared with all later ones only; the block with the first ones works longest, the last idles.
#include "../common.h"

enum { WORDS = 8, BLOCK = 512, WARPS = BLOCK / 32 };

// Signatures of wing patterns, 256 bits each: the most alike of the later photographs, and how many are the same
// animal; one warp per photograph.
__global__ void same_animals(const unsigned *signatures, int *nearest, int *matches, int n, int per_block,
                             int radius) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = warp; r < per_block; r += WARPS) {
#ifdef AFTER
        int i = blockIdx.x + gridDim.x * r;
#else
        int i = blockIdx.x * per_block + r;
#endif
        unsigned own[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            own[w] = signatures[w * n + i];
        int best = 32 * WORDS, same = 0;
        for (int j = i + 1 + lane; j < n; j += 32) {
            int apart = 0;
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                apart += __popc(own[w] ^ signatures[w * n + j]);
            best = min(best, apart);
            same += apart <= radius;
        }
        best = __reduce_min_sync(~0u, best);
        same = __reduce_add_sync(~0u, same);
        if (lane == 0) {
            nearest[i] = best;
            matches[i] = same;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "butterflies");
    int blocks = p.small ? 4 : 132, per_block = p.small ? 24 : 64, n = blocks * per_block, radius = 110;
    std::vector<unsigned> signatures((size_t)n * WORDS);
    unsigned seed = 1;
    for (unsigned &s : signatures) {
        s = lcg_next(&seed, 1 << 16) << 16;
        s |= lcg_next(&seed, 1 << 16);
    }
    unsigned *d_signatures = device_copy_of(signatures.data(), signatures.size());
    int *d_nearest = device_array<int>(n), *d_matches = device_array<int>(n);
    pair_time(&p, [&] { same_animals<<<blocks, BLOCK>>>(d_signatures, d_nearest, d_matches, n, per_block, radius); });
    std::vector<int> nearest = host_copy_of(d_nearest, n), matches = host_copy_of(d_matches, n);
    for (int i = 0; i < n; i += p.small ? 1 : 19) {
        int best = 32 * WORDS, same = 0;
        for (int j = i + 1; j < n; j++) {
            int apart = 0;
            for (int w = 0; w < WORDS; w++)
                apart += __builtin_popcount(signatures[(size_t)w * n + i] ^ signatures[(size_t)w * n + j]);
            best = std::min(best, apart);
            same += apart <= radius;
        }
        pair_near(&p, "nearest", i, best, nearest[i], 1e-9);
        pair_near(&p, "matches", i, same, matches[i], 1e-9);
    }
    return pair_end(&p);
}
