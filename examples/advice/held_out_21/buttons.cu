// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of the stock is copied asynchronously into a second buffer while this one is searched.
// Why: with one buffer, all threads wait for the loads of each tile before they can compare anything.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128 };

// Replacements for lost buttons: each shop has its own stock (colour in three numbers, diameter) and its own customers;
// the nearest and how many would do. A block takes one shop, a thread one customer; tiles go through shared memory.
__global__ void replacements(const float4 *wanted, const float4 *stocks, int *nearest, int *would_do, int tiles,
                             float near_enough) {
    const float4 *stock = stocks + (size_t)blockIdx.x * tiles * BLOCK;
    float4 want = wanted[blockIdx.x * BLOCK + threadIdx.x];
#ifdef AFTER
    __shared__ float4 buffers[2][BLOCK];
    __pipeline_memcpy_async(&buffers[0][threadIdx.x], stock + threadIdx.x, sizeof(float4));
    __pipeline_commit();
#else
    __shared__ float4 buffer[BLOCK];
#endif
    float least = 1e30f;
    int best = -1, count = 0;
    for (int t = 0; t < tiles; t++) {
#ifdef AFTER
        if (t + 1 < tiles)
            __pipeline_memcpy_async(&buffers[(t + 1) % 2][threadIdx.x], stock + (t + 1) * BLOCK + threadIdx.x,
                                    sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        const float4 *buffer = buffers[t % 2];
#else
        buffer[threadIdx.x] = stock[t * BLOCK + threadIdx.x];
#endif
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < BLOCK; k++) {
            float4 b = buffer[k];
            float r = b.x - want.x, g = b.y - want.y, u = b.z - want.z, d = b.w - want.w;
            float apart = r * r + g * g + u * u + 4 * d * d;
            if (apart < least) {
                least = apart;
                best = t * BLOCK + k;
            }
            count += apart < near_enough;
        }
        __syncthreads();
    }
    nearest[blockIdx.x * BLOCK + threadIdx.x] = best;
    would_do[blockIdx.x * BLOCK + threadIdx.x] = count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "buttons");
    int shops = p.small ? 6 : 264, tiles = p.small ? 3 : 48, n = shops * BLOCK, each = tiles * BLOCK;
    // Whole numbers, so that both sides compute the same distances exactly.
    std::vector<float4> wanted(n), stocks((size_t)shops * each);
    unsigned seed = 1;
    for (float4 &w : wanted)
        w = {(float)lcg_next(&seed, 256), (float)lcg_next(&seed, 256), (float)lcg_next(&seed, 256),
             (float)lcg_next(&seed, 60)};
    for (float4 &s : stocks)
        s = {(float)lcg_next(&seed, 256), (float)lcg_next(&seed, 256), (float)lcg_next(&seed, 256),
             (float)lcg_next(&seed, 60)};
    float near_enough = 3000;
    float4 *d_wanted = device_copy_of(wanted.data(), n), *d_stocks = device_copy_of(stocks.data(), stocks.size());
    int *d_nearest = device_array<int>(n), *d_would_do = device_array<int>(n);
    pair_time(&p,
              [&] { replacements<<<shops, BLOCK>>>(d_wanted, d_stocks, d_nearest, d_would_do, tiles, near_enough); });
    std::vector<int> nearest = host_copy_of(d_nearest, n), would_do = host_copy_of(d_would_do, n);
    for (int i = 0; i < n; i += p.small ? 1 : 29) {
        const float4 *stock = &stocks[(size_t)(i / BLOCK) * each];
        float4 want = wanted[i];
        float least = 1e30f;
        int best = -1, count = 0;
        for (int k = 0; k < each; k++) {
            float r = stock[k].x - want.x, g = stock[k].y - want.y, u = stock[k].z - want.z, d = stock[k].w - want.w;
            float apart = r * r + g * g + u * u + 4 * d * d;
            if (apart < least) {
                least = apart;
                best = k;
            }
            count += apart < near_enough;
        }
        pair_near(&p, "nearest", i, best, nearest[i], 1e-9);
        pair_near(&p, "would do", i, count, would_do[i], 1e-9);
    }
    return pair_end(&p);
}
