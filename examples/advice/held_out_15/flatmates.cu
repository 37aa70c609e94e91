// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of answers is copied to shared memory asynchronously instead of through registers.
// Why: the copy's stores wait for its loads before any of the tile that is already there has been compared.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, ANSWERS = 16, RENT = ANSWERS - 1, TILE = 32, PIECES = TILE * ANSWERS / 4 };

__constant__ float matters[ANSWERS];

static __device__ void bring(float4 *tile, const float4 *people, int first) {
    static_assert(PIECES == BLOCK, "each thread copies one piece");
    const float4 *piece = people + (size_t)first * (ANSWERS / 4) + threadIdx.x;
#ifdef AFTER
    __pipeline_memcpy_async(&tile[threadIdx.x], piece, sizeof *piece);
    __pipeline_commit();
#else
    tile[threadIdx.x] = *piece;
#endif
}

// For everyone who looks for a room the flat whose people answered a questionnaire most alike, if the rent can be paid.
__global__ void best_flat(const float *seekers, const float4 *people, int *best, float *distance, int count) {
    __shared__ float4 tiles[2][PIECES];
    int i = blockIdx.x * BLOCK + threadIdx.x, chosen = -1;
    float own[ANSWERS], least = 1e30f;
#pragma unroll
    for (int a = 0; a < ANSWERS; a++)
        own[a] = seekers[a * gridDim.x * BLOCK + i];
    bring(tiles[0], people, 0);
    for (int first = 0; first < count; first += TILE) {
#ifdef AFTER
        __pipeline_wait_prior(0);
#endif
        __syncthreads();
        if (first + TILE < count)
            bring(tiles[(first / TILE + 1) & 1], people, first + TILE);
        const float *tile = (const float *)tiles[(first / TILE) & 1];
        for (int k = 0; k < TILE; k++) {
            float sum = 0;
#pragma unroll
            for (int a = 0; a < RENT; a++) {
                float d = own[a] - tile[k * ANSWERS + a];
                sum += matters[a] * d * d;
            }
            if (tile[k * ANSWERS + RENT] > own[RENT])  // too dear
                continue;
            if (sum < least) {
                least = sum;
                chosen = first + k;
            }
        }
    }
    best[i] = chosen;
    distance[i] = least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "flatmates");
    int n = p.small ? 512 : 132 * BLOCK, count = p.small ? 256 : 8192;
    std::vector<float> seekers((size_t)n * ANSWERS), people((size_t)count * ANSWERS), weights(ANSWERS);
    lcg_fill(seekers.data(), seekers.size(), 1, 11);  // whole numbers, so that the sums are exact
    lcg_fill(people.data(), people.size(), 2, 11);
    lcg_fill(weights.data(), ANSWERS, 3, 4);
    CUDA_CHECK(cudaMemcpyToSymbol(matters, weights.data(), sizeof matters));
    float *d_seekers = device_copy_of(seekers.data(), seekers.size()), *d_distance = device_array<float>(n);
    float4 *d_people = (float4 *)device_copy_of(people.data(), people.size());
    int *d_best = device_array<int>(n);
    pair_time(&p, [&] { best_flat<<<n / BLOCK, BLOCK>>>(d_seekers, d_people, d_best, d_distance, count); });
    std::vector<int> best = host_copy_of(d_best, n);
    std::vector<float> distance = host_copy_of(d_distance, n);
    for (int i = 0; i < n; i += 41) {
        int chosen = -1;
        float least = 1e30f;
        for (int k = 0; k < count; k++) {
            float sum = 0;
            for (int a = 0; a < RENT; a++) {
                float d = seekers[(size_t)a * n + i] - people[(size_t)k * ANSWERS + a];
                sum += weights[a] * d * d;
            }
            if (people[(size_t)k * ANSWERS + RENT] <= seekers[(size_t)RENT * n + i] && sum < least) {
                least = sum;
                chosen = k;
            }
        }
        pair_near(&p, "best", i, chosen, best[i], 0);
        pair_near(&p, "distance", i, least, distance[i], 0);
    }
    return pair_end(&p);
}
