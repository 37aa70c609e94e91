// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: the next sample is loaded before the current one goes through the filters.
// Why: each turn waits for its load, and the store at the turn's end keeps the next load from starting earlier.
#include "../common.h"

enum { BLOCK = 128, BANDS = 8 };

__constant__ float c_bands[BANDS][5];

// Eight second-order filters in a row, a thread for each channel; the channels' samples of one time lie side by side.
__global__ void equaliser(const float *in, float *out, int channels, int times) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float one[BANDS] = {}, two[BANDS] = {};
#ifdef AFTER
    float next = in[i];
#endif
    for (int t = 0; t < times; t++) {
#ifdef AFTER
        float v = next;
        next = in[(size_t)min(t + 1, times - 1) * channels + i];
#else
        float v = in[(size_t)t * channels + i];
#endif
#pragma unroll
        for (int b = 0; b < BANDS; b++) {
            float y = c_bands[b][0] * v + one[b];
            one[b] = c_bands[b][1] * v - c_bands[b][3] * y + two[b];
            two[b] = c_bands[b][2] * v - c_bands[b][4] * y;
            v = y;
        }
        out[(size_t)t * channels + i] = v;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "equaliser");
    int channels = p.small ? 132 * 128 : 264 * 128, times = p.small ? 16 : 256;
    float bands[BANDS][5];
    for (int b = 0; b < BANDS; b++) {
        const float band[5] = {0.9f + 0.01f * b, -1.2f, 0.5f, -1.2f + 0.05f * b, 0.45f};
        memcpy(bands[b], band, sizeof band);
    }
    std::vector<float> in = random_floats((size_t)channels * times, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    CUDA_CHECK(cudaMemcpyToSymbol(c_bands, bands, sizeof bands));
    pair_time(&p, [&] { equaliser<<<channels / BLOCK, BLOCK>>>(d_in, d_out, channels, times); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < channels; i += 509) {
        double one[BANDS] = {}, two[BANDS] = {};
        for (int t = 0; t < times; t++) {
            double v = in[(size_t)t * channels + i];
            for (int b = 0; b < BANDS; b++) {
                double y = bands[b][0] * v + one[b];
                one[b] = bands[b][1] * v - bands[b][3] * y + two[b];
                two[b] = bands[b][2] * v - bands[b][4] * y;
                v = y;
            }
            pair_near(&p, "out", (size_t)t * channels + i, v, out[(size_t)t * channels + i], 1e-3);
        }
    }
    return pair_end(&p);
}
