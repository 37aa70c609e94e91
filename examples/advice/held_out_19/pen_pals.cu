// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a block takes groups of writers from both ends of the list in turn, not a run of neighbouring groups.
// Why: a writer is compared with all who joined before; the blocks with the newest writers work longest.
#include "../common.h"

enum { TRAITS = 32, GROUP = 8, BLOCK = 128, WARPS = BLOCK / 32 };

// For each writer the best pen pal among those who joined before, by how well their traits agree.
__global__ void matching(const float *traits, float *scores, int *pals, int writers) {
    __shared__ float ours[TRAITS][GROUP], best_of[WARPS][GROUP];
    __shared__ int pal_of[WARPS][GROUP];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int groups = writers / GROUP, per = groups / gridDim.x;
    for (int k = 0; k < per; k++) {
#ifdef AFTER
        int group = k * gridDim.x + (k % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
#else
        int group = blockIdx.x * per + k;
#endif
        int first = group * GROUP;
        for (int e = threadIdx.x; e < TRAITS * GROUP; e += BLOCK)
            ours[e / GROUP][e % GROUP] = traits[e / GROUP * writers + first + e % GROUP];
        __syncthreads();
        float best[GROUP];
        int pal[GROUP];
#pragma unroll
        for (int g = 0; g < GROUP; g++) {
            best[g] = -1e30f;
            pal[g] = -1;
        }
        for (int j = threadIdx.x; j < first + GROUP - 1; j += BLOCK) {
            float score[GROUP] = {};
            for (int t = 0; t < TRAITS; t++) {
                float theirs = traits[t * writers + j];
#pragma unroll
                for (int g = 0; g < GROUP; g++)
                    score[g] += ours[t][g] * theirs;
            }
#pragma unroll
            for (int g = 0; g < GROUP; g++)
                if (j < first + g && score[g] > best[g]) {
                    best[g] = score[g];
                    pal[g] = j;
                }
        }
#pragma unroll
        for (int g = 0; g < GROUP; g++) {
            int rank = __float_as_int(best[g]);
            rank ^= rank < 0 ? 0x7fffffff : 0;  // in the order of the scores
            unsigned holders = __ballot_sync(~0u, rank == __reduce_max_sync(~0u, rank));
            if (lane == __ffs(holders) - 1) {
                best_of[warp][g] = best[g];
                pal_of[warp][g] = pal[g];
            }
        }
        __syncthreads();
        if (threadIdx.x < GROUP) {
            int won = 0;
            for (int w = 1; w < WARPS; w++)
                if (best_of[w][threadIdx.x] > best_of[won][threadIdx.x])
                    won = w;
            scores[first + threadIdx.x] = best_of[won][threadIdx.x];
            pals[first + threadIdx.x] = pal_of[won][threadIdx.x];
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pen_pals");
    int blocks = p.small ? 4 : 264, writers = blocks * GROUP * (p.small ? 2 : 4);
    std::vector<float> traits = random_floats((size_t)TRAITS * writers, -1, 1, 1);
    float *d_traits = device_copy_of(traits.data(), traits.size()), *d_scores = device_array<float>(writers);
    int *d_pals = device_array<int>(writers);
    pair_time(&p, [&] { matching<<<blocks, BLOCK>>>(d_traits, d_scores, d_pals, writers); });
    std::vector<float> scores = host_copy_of(d_scores, writers);
    std::vector<int> pals = host_copy_of(d_pals, writers);
    for (int i = 1; i < writers; i += p.small ? 1 : 29) {
        double best = -1e30, found = -1e30;
        for (int j = 0; j < i; j++) {
            double score = 0;
            for (int t = 0; t < TRAITS; t++)
                score += (double)traits[(size_t)t * writers + i] * traits[(size_t)t * writers + j];
            best = std::max(best, score);
            if (j == pals[i])
                found = score;
        }
        pair_near(&p, "score", i, best, scores[i], 1e-4);
        pair_near(&p, "score of the pal", i, best, found, 1e-4);
    }
    return pair_end(&p);
}
