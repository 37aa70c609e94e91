// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Also: code-reordering
// Change: the next strip is copied asynchronously while the current one is compared.
// Why: a strip is loaded, waited for and stored to shared memory before anybody computes.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, STRIP = 512, STRIPS = 32, TAPS = 24 };

// Sum of squared differences to a template at every fourth place of a row.
__global__ void template_match(const float *rows, const float *pattern, float *out) {
    __shared__ __align__(16) float strip[2][STRIP + 32];
    __shared__ float want[TAPS];
    const float *row = rows + (size_t)blockIdx.x * STRIP * STRIPS;
    int t = threadIdx.x;
    if (t < TAPS)
        want[t] = pattern[t];
    float best = INFINITY;
#ifdef AFTER
    __pipeline_memcpy_async(&strip[0][4 * t], &row[4 * t], 16);
    __pipeline_commit();
    for (int s = 0; s < STRIPS; s++) {
        if (s + 1 < STRIPS)
            __pipeline_memcpy_async(&strip[(s + 1) & 1][4 * t], &row[(s + 1) * STRIP + 4 * t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const float *now = strip[s & 1];
#else
    for (int s = 0; s < STRIPS; s++) {
        *(float4 *)&strip[0][4 * t] = *(const float4 *)&row[s * STRIP + 4 * t];
        __syncthreads();
        const float *now = strip[0];
#endif
        float sum = 0;
        for (int k = 0; k < TAPS; k++) {
            int at = 4 * t + k;
            float d = now[at < STRIP ? at : at - STRIP] - want[k];
            sum += d * d;
        }
        best = fminf(best, sum);
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + t] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "template_match");
    int blocks = p.small ? 16 : 1320;
    size_t n = (size_t)blocks * STRIP * STRIPS;
    std::vector<float> rows = random_floats(n, 0, 1, 1), pattern = random_floats(TAPS, 0, 1, 2);
    float *d_rows = device_copy_of(rows.data(), n), *d_pattern = device_copy_of(pattern.data(), TAPS), *d_out = device_array<float>(blocks * BLOCK);
    pair_time(&p, [&] { template_match<<<blocks, BLOCK>>>(d_rows, d_pattern, d_out); });
    std::vector<float> out = host_copy_of(d_out, blocks * BLOCK);
    for (int i = 0; i < blocks * BLOCK; i += 97) {
        const float *row = &rows[(size_t)(i / BLOCK) * STRIP * STRIPS];
        float best = INFINITY;
        for (int s = 0; s < STRIPS; s++) {
            float sum = 0;
            for (int k = 0; k < TAPS; k++) {
                float d = row[s * STRIP + (4 * (i % BLOCK) + k) % STRIP] - pattern[k];
                sum += d * d;
            }
            best = std::min(best, sum);
        }
        pair_near(&p, "best", i, best, out[i], 1e-4);
    }
    return pair_end(&p);
}
