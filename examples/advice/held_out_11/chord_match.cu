// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: chords come into shared memory by asynchronous copies, the next batch while the current one is compared.
// Why: all threads wait for a batch of chords to arrive before any of them compares.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, NOTES = 24, BATCH = 32, QUADS = BATCH * NOTES / 4 };

// The chord of a long list that each moment of a recording is most like.
__global__ void chord_match(const float *moments, const float4 *chords, int *out, int n, int batches) {
    int i = blockIdx.x * BLOCK + threadIdx.x, found = 0;
    float own[NOTES], most = -1e30f;
#pragma unroll
    for (int k = 0; k < NOTES; k++)
        own[k] = moments[k * n + i];
#ifdef AFTER
    __shared__ float4 batch[2][QUADS];
    for (int q = threadIdx.x; q < QUADS; q += BLOCK)
        __pipeline_memcpy_async(&batch[0][q], &chords[q], sizeof(float4));
    __pipeline_commit();
#else
    __shared__ float4 batch[1][QUADS];
#endif
    for (int b = 0; b < batches; b++) {
#ifdef AFTER
        if (b + 1 < batches)
            for (int q = threadIdx.x; q < QUADS; q += BLOCK)
                __pipeline_memcpy_async(&batch[(b + 1) % 2][q], &chords[(b + 1) * QUADS + q], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        const float4 *now = batch[b % 2];
#else
        for (int q = threadIdx.x; q < QUADS; q += BLOCK)
            batch[0][q] = chords[b * QUADS + q];
        const float4 *now = batch[0];
#endif
        __syncthreads();
        for (int c = 0; c < BATCH; c++) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < NOTES / 4; k++) {
                float4 notes = now[c * (NOTES / 4) + k];
                sum += own[4 * k] * notes.x + own[4 * k + 1] * notes.y + own[4 * k + 2] * notes.z +
                       own[4 * k + 3] * notes.w;
            }
            if (sum > most)
                most = sum, found = b * BATCH + c;
        }
        __syncthreads();
    }
    out[i] = found;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chord_match");
    int n = p.small ? 1 << 12 : 1 << 16, batches = p.small ? 6 : 32;
    std::vector<float> moments = random_floats((size_t)n * NOTES, 0, 1, 1),
                       chords = random_floats((size_t)batches * BATCH * NOTES, -1, 1, 2);
    float *d_moments = device_copy_of(moments.data(), moments.size());
    float4 *d_chords = (float4 *)device_copy_of(chords.data(), chords.size());
    int *d_out = device_array<int>(n);
    pair_time(&p, [&] { chord_match<<<n / BLOCK, BLOCK>>>(d_moments, d_chords, d_out, n, batches); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 61) {
        double most = -1e30, got = 0;
        for (int c = 0; c < batches * BATCH; c++) {
            double sum = 0;
            for (int k = 0; k < NOTES; k++)
                sum += (double)moments[(size_t)k * n + i] * chords[(size_t)c * NOTES + k];
            most = std::max(most, sum);
            if (c == out[i])
                got = sum;
        }
        pair_near(&p, "match", i, most, got, 1e-4);
    }
    return pair_end(&p);
}
