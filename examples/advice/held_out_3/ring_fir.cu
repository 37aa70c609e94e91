// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Also: register-reuse
// Change: the eight last samples move up one place with each new one, instead of staying in a ring at changing places.
// Why: an array that is indexed by a variable is in local memory.
#include "../common.h"

enum { BLOCK = 128, TAPS = 8 };

__constant__ float taps[TAPS];

__global__ void ring_fir(const float *in, float *out, int channels, int length) {
    int channel = blockIdx.x * BLOCK + threadIdx.x;
    float last[TAPS] = {};
    for (int t = 0; t < length; t++) {
        float sum = 0;
#ifdef AFTER
#pragma unroll
        for (int k = TAPS - 1; k > 0; k--)
            last[k] = last[k - 1];
        last[0] = in[t * channels + channel];
        for (int k = 0; k < TAPS; k++)
            sum += taps[k] * last[k];
#else
        last[t % TAPS] = in[t * channels + channel];
        for (int k = 0; k < TAPS; k++)
            sum += taps[k] * last[(t - k) & (TAPS - 1)];
#endif
        out[t * channels + channel] = sum;
    }
}

// A filter of eight taps over many channels.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ring_fir");
    int channels = p.small ? 1 << 12 : 1 << 17, length = p.small ? 32 : 64;
    std::vector<float> weights = random_floats(TAPS, -1, 1, 1), in = random_floats((size_t)channels * length, -1, 1, 2);
    CUDA_CHECK(cudaMemcpyToSymbol(taps, weights.data(), sizeof taps));
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { ring_fir<<<channels / BLOCK, BLOCK>>>(d_in, d_out, channels, length); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int channel = 0; channel < channels; channel += 61)
        for (int t = 0; t < length; t++) {
            double sum = 0;
            for (int k = 0; k < TAPS && k <= t; k++)
                sum += (double)weights[k] * in[(size_t)(t - k) * channels + channel];
            pair_near(&p, "out", (size_t)t * channels + channel, sum, out[(size_t)t * channels + channel], 1e-4);
        }
    return pair_end(&p);
}
