// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the signal is padded by the filter's length, so that no tap needs a test.
// Why: each tap is tested for lying inside of the signal, which all but a few do.
#include "../common.h"

enum { BLOCK = 256, TAPS = 48 };

// A causal filter that looks back along a signal.
__global__ void tapped_delay(const float *in, const float *taps, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < TAPS; k++)
#ifndef AFTER
        if (i >= 3 * k && i - 3 * k < n)
#endif
            sum += taps[k] * in[i - 3 * k];
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tapped_delay");
    int n = p.small ? 1 << 14 : 1 << 22, pad = 3 * TAPS;
    std::vector<float> in = random_floats(n, -1, 1, 1), padded(n + pad), taps = random_floats(TAPS, -1, 1, 2);
    std::copy(in.begin(), in.end(), padded.begin() + pad);
    float *d_in = device_copy_of(padded.data(), padded.size()) + pad, *d_taps = device_copy_of(taps.data(), TAPS),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { tapped_delay<<<n / BLOCK, BLOCK>>>(d_in, d_taps, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double sum = 0;
        for (int k = 0; k < TAPS; k++)
            sum += i >= 3 * k ? taps[k] * in[i - 3 * k] : 0;
        pair_near(&p, "out", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
