// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the scan lines come to shared memory by asynchronous copies, two lines ahead, instead of by way of registers.
// Why: a block waited for every line from global memory before it could filter it, and few blocks share an SM.
#include "../common.h"

#include <cuda_pipeline.h>

enum { THREADS = 256, EACH = 4, SAMPLES = THREADS * EACH, TAPS = 16, BUFFERS = 3 };

static __constant__ float pulse[TAPS];

// Strongest echo at a depth along the weld, and the line it is in.
struct Echo {
    float strength;
    int line;
};

// A line of samples behind TAPS zeros, so that the filter needs no bounds checks.
struct Line {
    float4 zeros[TAPS / 4], samples[THREADS];
};

// The echoes of the pulse in this thread's samples; keeps the strongest over the lines.
static __device__ void filter(const Line &line, int number, Echo *best) {
    float window[TAPS + EACH];
    const float4 *from = line.zeros + threadIdx.x;
#pragma unroll
    for (int q = 0; q < (TAPS + EACH) / 4; q++) {
        float4 four = from[q];
        window[4 * q] = four.x, window[4 * q + 1] = four.y, window[4 * q + 2] = four.z, window[4 * q + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        float sum = 0;
#pragma unroll
        for (int t = 0; t < TAPS; t++)
            sum += pulse[t] * window[TAPS + i - t];
        if (fabsf(sum) > best[i].strength)
            best[i] = {fabsf(sum), number};
    }
}

// A block has a channel of the probe: scans[channel][line][sample].
__global__ void __launch_bounds__(THREADS) strongest_echoes(const float4 *__restrict__ scans, Echo *__restrict__ out,
                                                            int lines) {
#ifdef AFTER
    __shared__ Line buffers[BUFFERS];
#else
    __shared__ Line buffers[1];
#endif
    const float4 *mine = scans + (size_t)blockIdx.x * lines * THREADS + threadIdx.x;
    if (threadIdx.x < TAPS / 4)
        for (Line &line : buffers)
            line.zeros[threadIdx.x] = make_float4(0, 0, 0, 0);
    Echo best[EACH];
    for (int i = 0; i < EACH; i++)
        best[i] = {0, 0};
#ifdef AFTER
    for (int ahead = 0; ahead < BUFFERS - 1; ahead++) {
        if (ahead < lines)
            __pipeline_memcpy_async(&buffers[ahead].samples[threadIdx.x], &mine[(size_t)ahead * THREADS],
                                    sizeof(float4));
        __pipeline_commit();
    }
    int now = 0, next = BUFFERS - 1;
    for (int line = 0; line < lines; line++) {
        __pipeline_wait_prior(BUFFERS - 2);
        __syncthreads();
        if (line + BUFFERS - 1 < lines)
            __pipeline_memcpy_async(&buffers[next].samples[threadIdx.x], &mine[(size_t)(line + BUFFERS - 1) * THREADS],
                                    sizeof(float4));
        __pipeline_commit();
        filter(buffers[now], line, best);
        now = now + 1 == BUFFERS ? 0 : now + 1;
        next = next + 1 == BUFFERS ? 0 : next + 1;
    }
#else
    for (int line = 0; line < lines; line++) {
        __syncthreads();
        buffers[0].samples[threadIdx.x] = mine[(size_t)line * THREADS];
        __syncthreads();
        filter(buffers[0], line, best);
    }
#endif
    for (int i = 0; i < EACH; i++)
        out[(size_t)blockIdx.x * SAMPLES + threadIdx.x * EACH + i] = best[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "welds");
    int channels = p.small ? 132 : 132 * 2, lines = p.small ? 8 : 128;
    std::vector<float> scans = random_floats((size_t)channels * lines * SAMPLES, -1, 1, 11), wave(TAPS);
    for (int t = 0; t < TAPS; t++)
        wave[t] = sinf(0.9f * t) * expf(-0.02f * (t - 8) * (t - 8));
    CUDA_CHECK(cudaMemcpyToSymbol(pulse, wave.data(), TAPS * sizeof(float)));
    float4 *d_scans = (float4 *)device_copy_of(scans.data(), scans.size());
    Echo *d_out = device_array<Echo>((size_t)channels * SAMPLES);
    pair_time(&p, [&] { strongest_echoes<<<channels, THREADS>>>(d_scans, d_out, lines); });
    std::vector<Echo> out = host_copy_of(d_out, (size_t)channels * SAMPLES);
    for (size_t i = 0; i < out.size(); i += 131) {
        size_t channel = i / SAMPLES;
        int sample = (int)(i % SAMPLES);
        double strongest = 0, told = 0;  // told: the echo in the line that the kernel names
        for (int line = 0; line < lines; line++) {
            const float *from = &scans[(channel * lines + line) * SAMPLES];
            double sum = 0;
            for (int t = 0; t < TAPS && t <= sample; t++)
                sum += (double)wave[t] * from[sample - t];
            strongest = std::max(strongest, fabs(sum));
            if (line == out[i].line)
                told = fabs(sum);
        }
        pair_near(&p, "strength", i, strongest, out[i].strength, 1e-4);
        pair_near(&p, "line's echo", i, strongest, told, 1e-4);
    }
    return pair_end(&p);
}
