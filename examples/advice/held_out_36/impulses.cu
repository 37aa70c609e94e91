// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread computes seven neighbouring output samples instead of one, with their common window in registers.
// Why: a tap and a sample read from shared memory serve up to seven multiplications instead of one; the loads of
// shared memory, not the arithmetic, bound the version before.
#include "../common.h"

// Convolution reverb: every channel of a recording is convolved with its own room impulse response.
constexpr int kThreads = 128;
constexpr int kTaps = 512;
constexpr int kStep = 8;  // taps handled together
#ifdef AFTER
constexpr int kOutputs = 7;
#else
constexpr int kOutputs = 1;
#endif
constexpr int kTile = kThreads * kOutputs;
constexpr int kLine = kTile + kTaps - 1;
constexpr int kWindow = kStep + kOutputs - 1;

// wet[c][i] = mix * sum over t of impulse[c][t] * dry[c][i - t] + (1 - mix) * dry[c][i]
__global__ void __launch_bounds__(kThreads)
    reverb(const float *__restrict__ dry, const float *__restrict__ impulse, float *__restrict__ wet, int samples,
           float mix) {
    __shared__ float room[kTaps];  // the response, last tap first
    __shared__ float line[kLine];  // the delay line: history first, then this tile
    const float *in = dry + (size_t)blockIdx.y * samples;
    float *out = wet + (size_t)blockIdx.y * samples;
    const int first = blockIdx.x * kTile;

    for (int i = threadIdx.x; i < kTaps; i += kThreads)
        room[i] = impulse[blockIdx.y * kTaps + kTaps - 1 - i];
    for (int i = threadIdx.x; i < kLine; i += kThreads) {
        int at = first - (kTaps - 1) + i;
        line[i] = at >= 0 && at < samples ? in[at] : 0.0f;
    }
    __syncthreads();

    const int base = threadIdx.x * kOutputs;
    float sum[kOutputs] = {};
    for (int t = 0; t < kTaps; t += kStep) {
        float window[kWindow];
#pragma unroll
        for (int w = 0; w < kWindow; w++)
            window[w] = line[base + t + w];
#pragma unroll
        for (int s = 0; s < kStep; s++) {
            float tap = room[t + s];
#pragma unroll
            for (int o = 0; o < kOutputs; o++)
                sum[o] += tap * window[s + o];
        }
    }

#pragma unroll
    for (int o = 0; o < kOutputs; o++) {
        int at = first + base + o;
        if (at < samples)
            out[at] = mix * sum[o] + (1.0f - mix) * line[base + o + kTaps - 1];
    }
}

static std::vector<float> make_rooms(int channels) {
    std::vector<float> rooms = random_floats((size_t)channels * kTaps, -1.0f, 1.0f, 11);
    for (int c = 0; c < channels; c++)
        for (int t = 0; t < kTaps; t++)
            rooms[(size_t)c * kTaps + t] *= expf(-t / (60.0f + c));
    return rooms;
}

static double wet_sample(const float *dry, const float *impulse, int i, double mix) {
    double sum = 0;
    for (int t = 0; t < kTaps && t <= i; t++)
        sum += (double)impulse[t] * dry[i - t];
    return mix * sum + (1 - mix) * dry[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "impulses");
    const int channels = p.small ? 2 : 64;
    const int samples = p.small ? 1500 : 96000;
    const float mix = 0.35f;
    const size_t total = (size_t)channels * samples;

    std::vector<float> dry = random_floats(total, -1.0f, 1.0f, 3);
    std::vector<float> rooms = make_rooms(channels);
    float *d_dry = device_copy_of(dry.data(), total);
    float *d_rooms = device_copy_of(rooms.data(), rooms.size());
    float *d_wet = device_array<float>(total);

    const dim3 grid((samples + kTile - 1) / kTile, channels);
    pair_time(&p, [&] { reverb<<<grid, kThreads>>>(d_dry, d_rooms, d_wet, samples, mix); });

    std::vector<float> wet = host_copy_of(d_wet, total);
    const size_t every = p.small ? 1 : 997;
    for (size_t at = 0; at < total; at += every) {
        size_t c = at / samples;
        double expected = wet_sample(&dry[c * samples], &rooms[c * kTaps], (int)(at % samples), mix);
        pair_near(&p, "wet", at, expected, wet[at], 1e-4);
    }

    CUDA_CHECK(cudaFree(d_dry));
    CUDA_CHECK(cudaFree(d_rooms));
    CUDA_CHECK(cudaFree(d_wet));
    return pair_end(&p);
}
