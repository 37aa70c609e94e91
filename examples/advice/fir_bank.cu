// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: spills
// Change: the loop over the taps, which keeps 64 sums alive, is split into two loops that keep 32 each.
// Why: 64 sums do not fit the registers that five blocks per SM leave to a thread, so they go through local memory.
#include "common.h"

enum { FILTERS = 64, TAPS = 32, BLOCK = 256 };

__constant__ float c_taps[TAPS][FILTERS];

// Largest response of filters FIRST up to FIRST + COUNT at one position.
template <int FIRST, int COUNT> __device__ float strongest(const float *signal, float best) {
    float sum[COUNT];
#pragma unroll
    for (int f = 0; f < COUNT; f++)
        sum[f] = 0;
#pragma unroll 2
    for (int t = 0; t < TAPS; t++) {
        float s = signal[t];
#pragma unroll
        for (int f = 0; f < COUNT; f++)
            sum[f] += s * c_taps[t][FIRST + f];
    }
#pragma unroll
    for (int f = 0; f < COUNT; f++)
        best = fmaxf(best, fabsf(sum[f]));
    return best;
}

__global__ void __launch_bounds__(BLOCK, 5) fir_bank(const float *signal, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float best = 0;
#ifdef AFTER
    best = strongest<0, FILTERS / 2>(signal + i, best);
    best = strongest<FILTERS / 2, FILTERS / 2>(signal + i, best);
#else
    best = strongest<0, FILTERS>(signal + i, best);
#endif
    out[i] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fir_bank");
    int n = p.small ? 40000 : 1 << 20;
    std::vector<float> signal = random_floats(n + TAPS, -1, 1, 1), taps = random_floats(TAPS * FILTERS, -1, 1, 2);
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps.data(), sizeof c_taps));
    float *d_signal = device_copy_of(signal.data(), signal.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { fir_bank<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_signal, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += n / 97) {
        double best = 0;
        for (int f = 0; f < FILTERS; f++) {
            double sum = 0;
            for (int t = 0; t < TAPS; t++)
                sum += (double)signal[i + t] * taps[t * FILTERS + f];
            best = std::max(best, fabs(sum));
        }
        pair_near(&p, "out", i, best, out[i], 1e-4);
    }
    return pair_end(&p);
}
