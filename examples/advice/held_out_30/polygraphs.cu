// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a channel's row in the tile is one word longer than its samples.
// Why: with rows of 32 words the 32 lanes, each at its own channel, all access the same bank.
#include "../common.h"

enum { CHANNELS = 128, SPAN = 32 };

#ifdef AFTER
enum { ROW = SPAN + 1 };
#else
enum { ROW = SPAN };
#endif

// Takes the slow drift off the channels of a polygraph: a thread follows one channel; the samples come and go by tiles,
// so that global memory is accessed along the channel.
__global__ void polygraphs(const float *signal, float *steady, int channels, int samples, float follow) {
    __shared__ float tile[CHANNELS * ROW];
    int first = blockIdx.x * CHANNELS;
    int lane = threadIdx.x % SPAN, line = threadIdx.x / SPAN;
    float drift = 0;
    for (int t = 0; t < samples; t += SPAN) {
        for (int c = line; c < CHANNELS; c += CHANNELS / SPAN)
            if (first + c < channels)
                tile[c * ROW + lane] = signal[(size_t)(first + c) * samples + t + lane];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < SPAN; k++) {
            float x = tile[threadIdx.x * ROW + k];
            drift += follow * (x - drift);
            tile[threadIdx.x * ROW + k] = x - drift;
        }
        __syncthreads();
        for (int c = line; c < CHANNELS; c += CHANNELS / SPAN)
            if (first + c < channels)
                steady[(size_t)(first + c) * samples + t + lane] = tile[c * ROW + lane];
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "polygraphs");
    int channels = p.small ? 300 : 60000, samples = p.small ? 2 * SPAN : 9 * SPAN;
    float follow = 0.04f;
    size_t n = (size_t)channels * samples;
    std::vector<float> signal = random_floats(n, 0, 5, 6);
    float *d_signal = device_copy_of(signal.data(), n), *d_steady = device_array<float>(n);
    pair_time(&p, [&] {
        polygraphs<<<(channels + CHANNELS - 1) / CHANNELS, CHANNELS>>>(d_signal, d_steady, channels, samples, follow);
    });
    std::vector<float> steady = host_copy_of(d_steady, n);
    for (int c = 0; c < channels; c += 23) {
        double drift = 0;
        for (int t = 0; t < samples; t++) {
            double x = signal[(size_t)c * samples + t];
            drift += follow * (x - drift);
            pair_near(&p, "steady", (size_t)c * samples + t, x - drift, steady[(size_t)c * samples + t], 1e-4);
        }
    }
    return pair_end(&p);
}
