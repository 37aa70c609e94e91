// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next two tiles come into shared memory by asynchronous copies while the current ones are used.
// Why: all warps wait for the tiles of each turn, and compute only then.
#include "../common.h"

#include <cuda_pipeline.h>

enum { SIDE = 64, DEPTH = 16, BLOCK = 256, WORDS = SIDE * DEPTH };

// Adds up one pair of tiles: a thread has 4 x 4 distances.
static __device__ __forceinline__ void add_tiles(const float *a, const float *b, float sum[4][4]) {
    int row = threadIdx.x / 16, column = threadIdx.x % 16;
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                sum[i][j] += fabsf(a[k * SIDE + row + 16 * i] - b[k * SIDE + column + 16 * j]);
}

// Sums of |a[k][i] - b[k][j]| over k for all i and j; both are stored by k.
__global__ void city_blocks(const float *a, const float *b, float *out, int n, int depth) {
    float sum[4][4] = {};
    // four neighbours of row t / 16 of each tile belong to a thread
    int t = threadIdx.x, k = t / 16, i = t % 16 * 4;
    const float *from_a = a + k * n + blockIdx.y * SIDE + i, *from_b = b + k * n + blockIdx.x * SIDE + i;
#ifdef AFTER
    __shared__ __align__(16) float tile_a[2][WORDS], tile_b[2][WORDS];
    __pipeline_memcpy_async(&tile_a[0][4 * t], from_a, 16);
    __pipeline_memcpy_async(&tile_b[0][4 * t], from_b, 16);
    __pipeline_commit();
    for (int at = 0; at < depth; at += DEPTH) {
        int now = at / DEPTH % 2;
        if (at + DEPTH < depth) {
            __pipeline_memcpy_async(&tile_a[!now][4 * t], from_a + (at + DEPTH) * n, 16);
            __pipeline_memcpy_async(&tile_b[!now][4 * t], from_b + (at + DEPTH) * n, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        add_tiles(tile_a[now], tile_b[now], sum);
        __syncthreads();
    }
#else
    __shared__ __align__(16) float tile_a[WORDS], tile_b[WORDS];
    for (int at = 0; at < depth; at += DEPTH) {
        *(float4 *)&tile_a[4 * t] = *(const float4 *)(from_a + at * n);
        *(float4 *)&tile_b[4 * t] = *(const float4 *)(from_b + at * n);
        __syncthreads();
        add_tiles(tile_a, tile_b, sum);
        __syncthreads();
    }
#endif
    int row = blockIdx.y * SIDE + t / 16, column = blockIdx.x * SIDE + t % 16;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            out[(row + 16 * y) * n + column + 16 * x] = sum[y][x];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "city_blocks");
    int n = p.small ? 256 : 4096, depth = p.small ? 128 : 512;
    std::vector<float> a = random_floats((size_t)n * depth, 0, 1, 1), b = random_floats((size_t)n * depth, 0, 1, 2);
    float *d_a = device_copy_of(a.data(), a.size()), *d_b = device_copy_of(b.data(), b.size()),
          *d_out = device_array<float>((size_t)n * n);
    pair_time(&p, [&] { city_blocks<<<dim3(n / SIDE, n / SIDE), BLOCK>>>(d_a, d_b, d_out, n, depth); });
    std::vector<float> out = host_copy_of(d_out, (size_t)n * n);
    for (size_t at = 0; at < out.size(); at += 10007) {
        double sum = 0;
        for (int k = 0; k < depth; k++)
            sum += fabs(a[(size_t)k * n + at / n] - b[(size_t)k * n + at % n]);
        pair_near(&p, "distance", at, sum, out[at], 1e-4);
    }
    return pair_end(&p);
}
