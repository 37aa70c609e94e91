// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: four blocks share the times of a trial instead of one block having them all.
// Why: 640 blocks are somewhat more than run at once, so that a second wave of few blocks takes as long as the first.
#include "../common.h"

enum { BLOCK = 256, CHANNELS = 48 };

#ifdef AFTER
enum { SHARES = 4 };
#else
enum { SHARES = 1 };
#endif

__constant__ float d_lateness[CHANNELS];

// The signal of a pulsar if it had passed a certain amount of gas, which delays low frequencies, for many amounts.
__global__ void dedispersion(const float *samples, float *sums, int row, int times) {
    int trial = blockIdx.x, own = times / SHARES;
    for (int k = threadIdx.x; k < own; k += BLOCK) {
        int t = blockIdx.y * own + k;
        float sum = 0;
        for (int c = 0; c < CHANNELS; c++)
            sum += samples[c * row + t + (int)(d_lateness[c] * (float)trial)];
        sums[(size_t)trial * times + t] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dedispersion");
    int trials = p.small ? 16 : 640, times = p.small ? 1024 : 4096;
    std::vector<float> lateness(CHANNELS);
    for (int c = 0; c < CHANNELS; c++) {
        float megahertz = 1200.0f + 6.0f * (float)c;
        lateness[c] = 5.0f * (1200.0f * 1200.0f / (megahertz * megahertz) - 0.6f);
    }
    int row = times + 2 * trials + 32;
    std::vector<float> samples = random_floats((size_t)CHANNELS * row, 0, 1, 1);
    float *d_samples = device_copy_of(samples.data(), samples.size()),
          *d_sums = device_array<float>((size_t)trials * times);
    CUDA_CHECK(cudaMemcpyToSymbol(d_lateness, lateness.data(), sizeof d_lateness));
    dim3 grid(trials, SHARES);
    pair_time(&p, [&] { dedispersion<<<grid, BLOCK>>>(d_samples, d_sums, row, times); });
    std::vector<float> sums = host_copy_of(d_sums, (size_t)trials * times);
    for (int trial = 0; trial < trials; trial += 3)
        for (int t = trial % 41; t < times; t += 41) {
            double sum = 0;
            for (int c = 0; c < CHANNELS; c++)
                sum += samples[(size_t)c * row + t + (int)(lateness[c] * (float)trial)];
            pair_near(&p, "sum", (size_t)trial * times + t, sum, sums[(size_t)trial * times + t], 1e-5);
        }
    return pair_end(&p);
}
