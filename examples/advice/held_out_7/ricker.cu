// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the traces have a margin of zeros, so that no test is needed whether a sample lies inside.
// Why: but for the first and last samples of a trace the test always has the same result.
#include "../common.h"

enum { BLOCK = 256, HALF = 24, SAMPLES = 2048 };
#ifdef AFTER
enum { MARGIN = HALF };
#else
enum { MARGIN = 0 };
#endif
enum { PITCH = SAMPLES + 2 * MARGIN };

__constant__ float c_wavelet[2 * HALF + 1];

// Seismic traces convolved with a wavelet; a row of the grid has one trace.
__global__ void ricker(const float *traces, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    const float *trace = traces + (size_t)blockIdx.y * PITCH + MARGIN;
    float sum = 0;
    for (int k = -HALF; k <= HALF; k++) {
#ifdef AFTER
        sum += c_wavelet[k + HALF] * trace[i - k];
#else
        if (i - k >= 0 && i - k < SAMPLES)
            sum += c_wavelet[k + HALF] * trace[i - k];
#endif
    }
    out[(size_t)blockIdx.y * SAMPLES + i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ricker");
    int count = p.small ? 16 : 1 << 13;
    std::vector<float> traces((size_t)count * PITCH), wavelet(2 * HALF + 1),
        samples = random_floats((size_t)count * SAMPLES, -1, 1, 1);
    for (int k = -HALF; k <= HALF; k++) {
        double x = 0.02 * k * k;
        wavelet[k + HALF] = (float)((1 - 2 * x) * exp(-x));
    }
    for (int row = 0; row < count; row++)
        memcpy(&traces[(size_t)row * PITCH + MARGIN], &samples[(size_t)row * SAMPLES], SAMPLES * sizeof(float));
    CUDA_CHECK(cudaMemcpyToSymbol(c_wavelet, wavelet.data(), wavelet.size() * sizeof(float)));
    float *d_traces = device_copy_of(traces.data(), traces.size()), *d_out = device_array<float>(samples.size());
    pair_time(&p, [&] { ricker<<<dim3(SAMPLES / BLOCK, count), BLOCK>>>(d_traces, d_out); });
    std::vector<float> out = host_copy_of(d_out, samples.size());
    for (size_t j = 0; j < out.size(); j += 1009) {
        int i = j % SAMPLES;
        double sum = 0;
        for (int k = -HALF; k <= HALF; k++)
            if (i - k >= 0 && i - k < SAMPLES)
                sum += wavelet[k + HALF] * samples[j - k];
        pair_near(&p, "out", j, sum, out[j], 1e-4);
    }
    return pair_end(&p);
}
