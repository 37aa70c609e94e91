// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1056 blocks instead of 48 share the signal.
// Why: 84 of 132 SMs have nothing to do.
#include "../common.h"

enum { BLOCK = 256 };

// The energy of a signal and of its change from sample to sample.
__global__ void tone_energy(const float *signal, float *sums, int n) {
    float energy = 0, change = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i + 1 < n; i += gridDim.x * BLOCK) {
        float now = signal[i], next = signal[i + 1];
        energy += now * now;
        change += (next - now) * (next - now);
    }
    for (int d = 16; d; d /= 2) {
        energy += __shfl_down_sync(~0u, energy, d);
        change += __shfl_down_sync(~0u, change, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], energy);
        atomicAdd(&sums[1], change);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tone_energy");
    int n = p.small ? 1 << 16 : 1 << 24;
#ifdef AFTER
    int blocks = 1056;
#else
    int blocks = 48;
#endif
    std::vector<float> signal = random_floats(n, -1, 1, 1);
    float *d_signal = device_copy_of(signal.data(), n), *d_sums = device_array<float>(2);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_sums, 0, 8));
        tone_energy<<<blocks, BLOCK>>>(d_signal, d_sums, n);
    });
    std::vector<float> sums = host_copy_of(d_sums, 2);
    double energy = 0;
    for (int i = 0; i + 1 < n; i++)
        energy += (double)signal[i] * signal[i];
    pair_near(&p, "energy", 0, energy, sums[0], 1e-3);
    return pair_end(&p);
}
