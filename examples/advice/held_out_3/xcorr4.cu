// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the pointers are __restrict__.
// Why: every sum is stored and loaded again in each turn, since it could be one of the inputs.
#include "../common.h"

#ifdef AFTER
#define ALONE __restrict__
#else
#define ALONE
#endif

enum { BLOCK = 128, LAGS = 4 };

__global__ void xcorr4(const float *ALONE signal, const float *ALONE pattern, float *ALONE out, int taps, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int lag = 0; lag < LAGS; lag++)
        out[lag * n + i] = 0;
    for (int t = 0; t < taps; t++)
        for (int lag = 0; lag < LAGS; lag++)
            out[lag * n + i] += pattern[lag * taps + t] * signal[i + t];
}

// Correlation of a signal with four patterns.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "xcorr4");
    int n = p.small ? 1 << 15 : 1 << 20, taps = p.small ? 24 : 64;
    std::vector<float> signal = random_floats(n + taps, -1, 1, 1), pattern = random_floats(LAGS * taps, -1, 1, 2);
    float *d_signal = device_copy_of(signal.data(), signal.size()),
          *d_pattern = device_copy_of(pattern.data(), pattern.size()), *d_out = device_array<float>((size_t)LAGS * n);
    pair_time(&p, [&] { xcorr4<<<n / BLOCK, BLOCK>>>(d_signal, d_pattern, d_out, taps, n); });
    std::vector<float> out = host_copy_of(d_out, (size_t)LAGS * n);
    for (int i = 0; i < n; i += 997)
        for (int lag = 0; lag < LAGS; lag++) {
            double sum = 0;
            for (int t = 0; t < taps; t++)
                sum += (double)pattern[lag * taps + t] * signal[i + t];
            pair_near(&p, "out", (size_t)lag * n + i, sum, out[(size_t)lag * n + i], 1e-4);
        }
    return pair_end(&p);
}
