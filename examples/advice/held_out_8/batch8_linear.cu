// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of weights and inputs is copied asynchronously while the current one is used.
// Why: one CTA is on an SM, which loads a tile, waits for it, and only then computes.
#include "../common.h"
#include <cuda_pipeline.h>

enum { BLOCK = 256, OUT = 64, DEPTH = 64, BATCH = 8, PITCH = DEPTH + 4 };

// A layer of a network for a batch of eight: a CTA has 64 outputs of all eight. Rows of weights and inputs lie in a row.
__global__ void batch8_linear(const float *weights, const float *x, float *out, int inputs, int outputs) {
#ifdef AFTER
    enum { TILES = 2 };
#else
    enum { TILES = 1 };
#endif
    __shared__ __align__(16) float w_tile[TILES][OUT][PITCH], x_tile[TILES][BATCH][PITCH];
    int t = threadIdx.x, row = t / (DEPTH / 4), word = t % (DEPTH / 4) * 4, o = t % OUT, b = t / OUT;
    const float *w_from = weights + (size_t)(blockIdx.x * OUT + row) * inputs + word, *x_from = x + (size_t)row * inputs + word;
    float sum[2] = {0, 0};
#ifdef AFTER
    auto copy = [&](int k, int to) {
        for (int r = 0; r < OUT; r += BLOCK / (DEPTH / 4))
            __pipeline_memcpy_async(&w_tile[to][row + r][word], w_from + (size_t)r * inputs + k, 16);
        if (row < BATCH)
            __pipeline_memcpy_async(&x_tile[to][row][word], x_from + k, 16);
        __pipeline_commit();
    };
    copy(0, 0);
#endif
    for (int k = 0; k < inputs; k += DEPTH) {
        int now = k / DEPTH % TILES;
#ifdef AFTER
        if (k + DEPTH < inputs)
            copy(k + DEPTH, 1 - now);
        else
            __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        for (int r = 0; r < OUT; r += BLOCK / (DEPTH / 4))
            *(float4 *)&w_tile[now][row + r][word] = *(const float4 *)(w_from + (size_t)r * inputs + k);
        if (row < BATCH)
            *(float4 *)&x_tile[now][row][word] = *(const float4 *)(x_from + k);
#endif
        __syncthreads();
        for (int d = 0; d < DEPTH; d += 4) {
            float4 w = *(const float4 *)&w_tile[now][o][d];
            for (int c = 0; c < 2; c++) {
                float4 v = *(const float4 *)&x_tile[now][b + 4 * c][d];
                sum[c] += w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w;
            }
        }
        __syncthreads();
    }
    for (int c = 0; c < 2; c++)
        out[(size_t)(b + 4 * c) * outputs + blockIdx.x * OUT + o] = sum[c];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "batch8_linear");
    int inputs = p.small ? 256 : 4096, outputs = p.small ? 512 : 132 * OUT;
    std::vector<float> weights = random_floats((size_t)inputs * outputs, -1, 1, 1), x = random_floats((size_t)inputs * BATCH, -1, 1, 2);
    float *d_weights = device_copy_of(weights.data(), weights.size()), *d_x = device_copy_of(x.data(), x.size()),
          *d_out = device_array<float>((size_t)outputs * BATCH);
    pair_time(&p, [&] { batch8_linear<<<outputs / OUT, BLOCK>>>(d_weights, d_x, d_out, inputs, outputs); });
    std::vector<float> out = host_copy_of(d_out, (size_t)outputs * BATCH);
    for (int b = 0; b < BATCH; b++)
        for (int o = 0; o < outputs; o += 97) {
            double sum = 0;
            for (int k = 0; k < inputs; k++)
                sum += (double)weights[(size_t)o * inputs + k] * x[(size_t)b * inputs + k];
            pair_near(&p, "out", (size_t)b * outputs + o, sum / 64, out[(size_t)b * outputs + o] / 64, 1e-4);
        }
    return pair_end(&p);
}
