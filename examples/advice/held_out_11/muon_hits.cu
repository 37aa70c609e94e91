// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the threads of a block first list the signals above the threshold, then share these out.
// Why: one signal of eight is above the threshold, and the other lanes wait while it is fitted.
#include "../common.h"

enum { BLOCK = 256, TURNS = 40 };

static __host__ __device__ inline float fitted(float signal) {
    float t = 0.5f;
    for (int k = 0; k < TURNS; k++)
        t -= 0.2f * (t * t * (0.7f + 0.1f * t) - signal);
    return t;
}

// When muons went through a detector: the time of each pulse that is high enough, 0 for all others.
__global__ void muon_hits(const float *signals, float *out, float threshold) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ int list[BLOCK], count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (signals[i] > threshold)
        list[atomicAdd(&count, 1)] = i;
    else
        out[i] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += BLOCK)
        out[list[k]] = fitted(signals[list[k]]);
#else
    float signal = signals[i], time = 0;
    if (signal > threshold)
        time = fitted(signal);
    out[i] = time;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "muon_hits");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> signals = random_floats(n, 0, 1, 1);
    float *d_signals = device_copy_of(signals.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { muon_hits<<<n / BLOCK, BLOCK>>>(d_signals, d_out, 0.875f); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "time", i, signals[i] > 0.875f ? fitted(signals[i]) : 0, out[i], 1e-4);
    return pair_end(&p);
}
