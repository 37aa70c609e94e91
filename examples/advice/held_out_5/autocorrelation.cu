// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: lags are dealt to the warps in turn instead of in runs.
// Why: the sum of a small lag has many terms, that of a large one few, and the CTA ends with its last warp.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, LENGTH = 1024 };

// Autocorrelation of signals of 1,024 samples for all lags; a CTA has a signal.
__global__ void autocorrelation(const float *signals, float *out) {
    __shared__ float s[LENGTH];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t base = (size_t)blockIdx.x * LENGTH;
    for (int k = threadIdx.x; k < LENGTH; k += BLOCK)
        s[k] = signals[base + k];
    __syncthreads();
    for (int j = 0; j < LENGTH / WARPS; j++) {
#ifdef AFTER
        int lag = j * WARPS + warp;
#else
        int lag = warp * (LENGTH / WARPS) + j;
#endif
        float sum = 0;
        for (int k = lane; k + lag < LENGTH; k += 32)
            sum += s[k] * s[k + lag];
        for (int d = 16; d; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (lane == 0)
            out[base + lag] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "autocorrelation");
    int count = p.small ? 132 : 132 * 8;
    std::vector<float> signals = random_floats((size_t)count * LENGTH, -1, 1, 1);
    float *d_signals = device_copy_of(signals.data(), signals.size()), *d_out = device_array<float>(signals.size());
    pair_time(&p, [&] { autocorrelation<<<count, BLOCK>>>(d_signals, d_out); });
    std::vector<float> out = host_copy_of(d_out, signals.size());
    for (int c = 0; c < count; c += 61)
        for (int lag = 0; lag < LENGTH; lag += 101) {
            double sum = 0;
            for (int k = 0; k + lag < LENGTH; k++)
                sum += signals[(size_t)c * LENGTH + k] * signals[(size_t)c * LENGTH + k + lag];
            pair_near(&p, "out", (size_t)c * LENGTH + lag, sum, out[(size_t)c * LENGTH + lag], 1e-3);
        }
    return pair_end(&p);
}
