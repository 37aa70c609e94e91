// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of points is copied asynchronously while the current one is compared with.
// Why: before, the block loads a tile, waits for it at the barrier, and computes only then; one block is on an SM.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, DEPTH = 16, TILE = 128 };

// A thread copies one point of the tile.
static __device__ void fetch(float4 *tile, const float *points, int first) {
    const float4 *from = (const float4 *)(points + (size_t)first * DEPTH);
    for (int k = 0; k < DEPTH / 4; k++) {
        int i = k * BLOCK + threadIdx.x;
#ifdef AFTER
        __pipeline_memcpy_async(&tile[i], &from[i], 16);
#else
        tile[i] = from[i];
#endif
    }
#ifdef AFTER
    __pipeline_commit();
#endif
}

// The nearest of all points for each query.
__global__ void __launch_bounds__(BLOCK) nearest(const float *queries, const float *points, float *best, int points_n) {
    __shared__ float4 tiles[2][TILE * DEPTH / 4];
    float q[DEPTH], least = 1e30f;
    int i = blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
        q[d] = queries[(size_t)d * gridDim.x * BLOCK + i];
#ifdef AFTER
    fetch(tiles[0], points, 0);
#endif
    for (int first = 0; first < points_n; first += TILE) {
        int now = first / TILE % 2;
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();
        if (first + TILE < points_n)
            fetch(tiles[1 - now], points, first + TILE);
#else
        fetch(tiles[now], points, first);
        __syncthreads();
#endif
#pragma unroll 2
        for (int j = 0; j < TILE; j++) {
            float sum = 0;
#pragma unroll
            for (int d = 0; d < DEPTH; d += 4) {
                float4 v = tiles[now][j * (DEPTH / 4) + d / 4];
                float a = v.x - q[d], b = v.y - q[d + 1], c = v.z - q[d + 2], e = v.w - q[d + 3];
                sum += a * a + b * b + c * c + e * e;
            }
            least = fminf(least, sum);
        }
    }
    best[i] = least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nearest");
    int blocks = p.small ? 66 : 132, n = blocks * BLOCK, points_n = p.small ? 1024 : 16384;
    std::vector<float> queries = random_floats((size_t)n * DEPTH, -1, 1, 1),
                       points = random_floats((size_t)points_n * DEPTH, -1, 1, 2);
    float *d_queries = device_copy_of(queries.data(), queries.size()),
          *d_points = device_copy_of(points.data(), points.size()), *d_best = device_array<float>(n);
    pair_time(&p, [&] { nearest<<<blocks, BLOCK>>>(d_queries, d_points, d_best, points_n); });
    std::vector<float> best = host_copy_of(d_best, n);
    for (int i = 0; i < n; i += n / 64 + 1) {
        double least = 1e30;
        for (int j = 0; j < points_n; j++) {
            double sum = 0;
            for (int d = 0; d < DEPTH; d++) {
                double away = points[(size_t)j * DEPTH + d] - queries[(size_t)d * n + i];
                sum += away * away;
            }
            least = std::min(least, sum);
        }
        pair_near(&p, "best", i, least, best[i], 1e-4);
    }
    return pair_end(&p);
}
