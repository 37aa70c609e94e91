// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Also: register-reuse
// Also: memory-transactions
// Change: the loop over input channels is the outer one, that over output channels the inner one, with a sum in a
// register for each. Why: each input value is loaded once for every output channel.
#include "../common.h"

enum { BLOCK = 128, INPUTS = 32, OUTPUTS = 16 };

__constant__ float weights[INPUTS * OUTPUTS];

__global__ void mix_channels(const float *in, float *out, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float sum[OUTPUTS] = {};
    for (int c = 0; c < INPUTS; c++) {
        float value = in[c * pixels + i];
        for (int o = 0; o < OUTPUTS; o++)
            sum[o] += weights[o * INPUTS + c] * value;
    }
    for (int o = 0; o < OUTPUTS; o++)
        out[o * pixels + i] = fmaxf(sum[o], 0);
#else
    for (int o = 0; o < OUTPUTS; o++) {
        float sum = 0;
        for (int c = 0; c < INPUTS; c++)
            sum += weights[o * INPUTS + c] * in[c * pixels + i];
        out[o * pixels + i] = fmaxf(sum, 0);
    }
#endif
}

// Convolution of 1 x 1 with 32 input and 16 output channels, and ReLU.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mix_channels");
    int pixels = p.small ? 1 << 14 : 1 << 19;
    std::vector<float> w = random_floats(INPUTS * OUTPUTS, -1, 1, 1),
                       in = random_floats((size_t)INPUTS * pixels, -1, 1, 2);
    CUDA_CHECK(cudaMemcpyToSymbol(weights, w.data(), sizeof weights));
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>((size_t)OUTPUTS * pixels);
    pair_time(&p, [&] { mix_channels<<<pixels / BLOCK, BLOCK>>>(d_in, d_out, pixels); });
    std::vector<float> out = host_copy_of(d_out, (size_t)OUTPUTS * pixels);
    for (int i = 0; i < pixels; i += 499)
        for (int o = 0; o < OUTPUTS; o++) {
            double sum = 0;
            for (int c = 0; c < INPUTS; c++)
                sum += (double)w[o * INPUTS + c] * in[(size_t)c * pixels + i];
            pair_near(&p, "out", (size_t)o * pixels + i, sum > 0 ? sum : 0, out[(size_t)o * pixels + i], 1e-4);
        }
    return pair_end(&p);
}
