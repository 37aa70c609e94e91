// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the filter's state is kept in variables and stored once, at the end.
// Why: the output might be the state, so that both words are loaded and stored for each sample.
#include "../common.h"

enum { BLOCK = 128, SAMPLES = 64 };

// A second-order filter for each channel; its state goes on from buffer to buffer.
__global__ void biquad(const float *in, float *out, float *state, float b0, float b1, float a1, float a2,
                       int channels) {
    int c = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float z1 = state[c], z2 = state[channels + c];
#define Z1 z1
#define Z2 z2
#else
#define Z1 state[c]
#define Z2 state[channels + c]
#endif
    for (int k = 0; k < SAMPLES; k++) {
        float x = in[(size_t)k * channels + c];
        float y = b0 * x + Z1;
        Z1 = b1 * x - a1 * y + Z2;
        Z2 = b0 * x - a2 * y;
        out[(size_t)k * channels + c] = y;
    }
#ifdef AFTER
    state[c] = z1;
    state[channels + c] = z2;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "biquad");
    int channels = p.small ? 1 << 12 : 1 << 17;
    size_t all = (size_t)channels * SAMPLES;
    std::vector<float> in = random_floats(all, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), all), *d_out = device_array<float>(all),
          *d_state = device_array<float>(2 * (size_t)channels);
    CUDA_CHECK(cudaMemset(d_state, 0, 2 * (size_t)channels * sizeof(float)));
    pair_time(&p,
              [&] { biquad<<<channels / BLOCK, BLOCK>>>(d_in, d_out, d_state, 0.2f, 0.4f, -0.5f, 0.2f, channels); });
    CUDA_CHECK(cudaMemset(d_state, 0, 2 * (size_t)channels * sizeof(float)));
    biquad<<<channels / BLOCK, BLOCK>>>(d_in, d_out, d_state, 0.2f, 0.4f, -0.5f, 0.2f, channels);
    std::vector<float> out = host_copy_of(d_out, all);
    for (int c = 0; c < channels; c += 1009) {
        double z1 = 0, z2 = 0;
        for (int k = 0; k < SAMPLES; k++) {
            double x = in[(size_t)k * channels + c], y = 0.2f * x + z1;
            z1 = 0.4f * x + 0.5f * y + z2;
            z2 = 0.2f * x - 0.2f * y;
            pair_near(&p, "out", (size_t)k * channels + c, y, out[(size_t)k * channels + c], 1e-4);
        }
    }
    return pair_end(&p);
}
