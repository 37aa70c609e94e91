// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of keys and values is copied asynchronously while the current one is used.
// Why: each tile is loaded, waited for and stored to shared memory while nobody computes.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, HEAD = 32, TILE = 32, WORDS = TILE * HEAD / 4 };

static __device__ void one_tile(const float4 *keys, const float4 *values, const float *q, float *sum, float *top,
                                float *total) {
    for (int j = 0; j < TILE; j++) {
        float dot = 0;
#pragma unroll
        for (int d = 0; d < HEAD / 4; d++) {
            float4 k = keys[j * (HEAD / 4) + d];
            dot += q[4 * d] * k.x + q[4 * d + 1] * k.y + q[4 * d + 2] * k.z + q[4 * d + 3] * k.w;
        }
        float higher = fmaxf(*top, dot), shrink = __expf(*top - higher), weight = __expf(dot - higher);
        *top = higher;
        *total = *total * shrink + weight;
#pragma unroll
        for (int d = 0; d < HEAD / 4; d++) {
            float4 v = values[j * (HEAD / 4) + d];
            sum[4 * d] = sum[4 * d] * shrink + weight * v.x;
            sum[4 * d + 1] = sum[4 * d + 1] * shrink + weight * v.y;
            sum[4 * d + 2] = sum[4 * d + 2] * shrink + weight * v.z;
            sum[4 * d + 3] = sum[4 * d + 3] * shrink + weight * v.w;
        }
    }
}

// Attention with an online softmax: a thread has one query, a CTA goes through the keys of its head by tiles.
__global__ void flash_tile(const float4 *query, const float4 *key, const float4 *value, float4 *out, int length) {
    size_t head = (size_t)blockIdx.y * length * (HEAD / 4),
           row = head + (blockIdx.x * BLOCK + threadIdx.x) * (HEAD / 4);
    float q[HEAD], sum[HEAD], top = -1e30f, total = 0;
#pragma unroll
    for (int d = 0; d < HEAD / 4; d++) {
        float4 v = query[row + d];
        q[4 * d] = v.x, q[4 * d + 1] = v.y, q[4 * d + 2] = v.z, q[4 * d + 3] = v.w;
        sum[4 * d] = sum[4 * d + 1] = sum[4 * d + 2] = sum[4 * d + 3] = 0;
    }
#ifdef AFTER
    __shared__ float4 keys[2][WORDS], values[2][WORDS];
    auto fetch = [&](int tile) {
        for (int w = threadIdx.x; w < WORDS; w += BLOCK) {
            __pipeline_memcpy_async(&keys[tile & 1][w], &key[head + tile * WORDS + w], 16);
            __pipeline_memcpy_async(&values[tile & 1][w], &value[head + tile * WORDS + w], 16);
        }
        __pipeline_commit();
    };
    fetch(0);
    for (int tile = 0; tile < length / TILE; tile++) {
        if (tile + 1 < length / TILE) {
            fetch(tile + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        one_tile(keys[tile & 1], values[tile & 1], q, sum, &top, &total);
        __syncthreads();
    }
#else
    __shared__ float4 keys[WORDS], values[WORDS];
    for (int tile = 0; tile < length / TILE; tile++) {
        for (int w = threadIdx.x; w < WORDS; w += BLOCK) {
            keys[w] = key[head + tile * WORDS + w];
            values[w] = value[head + tile * WORDS + w];
        }
        __syncthreads();
        one_tile(keys, values, q, sum, &top, &total);
        __syncthreads();
    }
#endif
#pragma unroll
    for (int d = 0; d < HEAD / 4; d++)
        out[row + d] = {sum[4 * d] / total, sum[4 * d + 1] / total, sum[4 * d + 2] / total, sum[4 * d + 3] / total};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "flash_tile");
    int heads = p.small ? 4 : 32, length = p.small ? 128 : 2048;
    size_t n = (size_t)heads * length * HEAD;
    std::vector<float> query = random_floats(n, -0.5f, 0.5f, 1), key = random_floats(n, -1, 1, 2),
                       value = random_floats(n, -1, 1, 3);
    float *d_query = device_copy_of(query.data(), n), *d_key = device_copy_of(key.data(), n),
          *d_value = device_copy_of(value.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] {
        flash_tile<<<dim3(length / BLOCK, heads), BLOCK>>>((const float4 *)d_query, (const float4 *)d_key,
                                                           (const float4 *)d_value, (float4 *)d_out, length);
    });
    std::vector<float> out = host_copy_of(d_out, n);
    for (size_t row = 0; row < (size_t)heads * length; row += 997) {
        size_t head = row / length * length * HEAD;
        double total = 0, sum = 0;
        for (int j = 0; j < length; j++) {
            double dot = 0;
            for (int d = 0; d < HEAD; d++)
                dot += query[row * HEAD + d] * key[head + j * HEAD + d];
            total += exp(dot);
            sum += exp(dot) * value[head + j * HEAD + row % HEAD];
        }
        pair_near(&p, "out", row, sum / total, out[row * HEAD + row % HEAD], 1e-3);
    }
    return pair_end(&p);
}
