// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next piece of the recording is copied asynchronously into a second buffer while this one is searched.
// Why: a recording has one block, which goes through it in order, and all its warps wait while a piece comes in.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, WARPS = BLOCK / 32, TAPS = 16, PIECE = 2048, WORDS = TAPS + PIECE };

#ifdef AFTER
enum { BUFFERS = 2 };
#else
enum { BUFFERS = 1 };
#endif

struct Finding {
    int calls;
    float level;
};

__constant__ float chirp[TAPS];

#ifdef AFTER
static __device__ void fetch(float4 *buffer, const float4 *piece) {
    for (int i = threadIdx.x; i < WORDS / 4; i += BLOCK)
        __pipeline_memcpy_async(&buffer[i], &piece[i], sizeof(float4));
    __pipeline_commit();
}
#else
static __device__ void fetch(float4 *buffer, const float4 *piece) {
    for (int i = threadIdx.x; i < WORDS / 4; i += BLOCK)
        buffer[i] = piece[i];
}
#endif

// Counts the samples at which a night's recording is like a bat's call and well above the level so far, which follows
// the noise piece by piece. A recording begins with TAPS zeros.
__global__ void __launch_bounds__(BLOCK) listen(const float *recordings, Finding *findings, int pieces) {
    __shared__ float4 buffers[BUFFERS][WORDS / 4];
    __shared__ float parts[WARPS];
    const float4 *recording = (const float4 *)(recordings + (size_t)blockIdx.x * (TAPS + (size_t)pieces * PIECE));
    float level = 1.0f;
    int calls = 0;
#ifdef AFTER
    fetch(buffers[0], recording);
#endif
    for (int piece = 0; piece < pieces; piece++) {
#ifdef AFTER
        if (piece + 1 < pieces) {
            fetch(buffers[(piece + 1) % 2], recording + (piece + 1) * (PIECE / 4));
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
#else
        fetch(buffers[0], recording + piece * (PIECE / 4));
#endif
        __syncthreads();
        const float *samples = (const float *)buffers[piece % BUFFERS] + TAPS;
        float loud = 0;
#pragma unroll 2
        for (int i = threadIdx.x; i < PIECE; i += BLOCK) {
            float match = 0;
#pragma unroll
            for (int k = 0; k < TAPS; k++)
                match += chirp[k] * samples[i - k];
            loud += fabsf(match);
            calls += fabsf(match) > 4.0f * level;
        }
        for (int step = 16; step; step /= 2)
            loud += __shfl_xor_sync(~0u, loud, step);
        if (threadIdx.x % 32 == 0)
            parts[threadIdx.x / 32] = loud;
        __syncthreads();
        float sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += parts[w];
        level = 0.9f * level + 0.1f * (sum / PIECE);
    }
    atomicAdd(&findings[blockIdx.x].calls, calls);
    if (threadIdx.x == 0)
        findings[blockIdx.x].level = level;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bat_calls");
    int detectors = p.small ? 4 : 132, pieces = p.small ? 4 : 120;
    size_t length = TAPS + (size_t)pieces * PIECE;
    std::vector<float> recordings = random_floats(detectors * length, -1, 1, 1);
    float call[TAPS];
    for (int k = 0; k < TAPS; k++)
        call[k] = (float)(sin(0.4 * k + 0.03 * k * k) * sin(M_PI * (k + 0.5) / TAPS));
    for (int d = 0; d < detectors; d++) {
        for (size_t i = 0; i < TAPS; i++)
            recordings[d * length + i] = 0;
        for (size_t at = 300 + 37 * d; at + TAPS < length; at += 5003)
            for (int k = 0; k < TAPS; k++)
                recordings[d * length + at + k] += 6 * call[TAPS - 1 - k];
    }
    CUDA_CHECK(cudaMemcpyToSymbol(chirp, call, sizeof chirp));
    float *d_recordings = device_copy_of(recordings.data(), recordings.size());
    Finding *d_findings = device_array<Finding>(detectors);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_findings, 0, detectors * sizeof(Finding)));
        listen<<<detectors, BLOCK>>>(d_recordings, d_findings, pieces);
    });
    std::vector<Finding> findings = host_copy_of(d_findings, detectors);
    for (int d = 0; d < detectors; d += 1 + detectors / 12) {
        const float *samples = &recordings[d * length + TAPS];
        double level = 1;
        int least = 0, most = 0;  // a sample just at the limit may count or not
        for (int piece = 0; piece < pieces; piece++) {
            double loud = 0;
            for (int i = piece * PIECE; i < (piece + 1) * PIECE; i++) {
                double match = 0;
                for (int k = 0; k < TAPS; k++)
                    match += (double)call[k] * samples[i - k];
                loud += fabs(match);
                least += fabs(match) > 4.0002 * level;
                most += fabs(match) > 3.9998 * level;
            }
            level = 0.9 * level + 0.1 * loud / PIECE;
        }
        pair_near(&p, "level", d, level, findings[d].level, 1e-4);
        pair_near(&p, "calls", d, std::min(std::max(findings[d].calls, least), most), findings[d].calls, 0);
    }
    return pair_end(&p);
}
