// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: the samples of eight steps are loaded before the first of these steps.
// Why: each step stores its ratio, and the load of the next step can't move above a store that may change it.
#include "../common.h"

enum { BLOCK = 128, AHEAD = 8 };

struct Detector {
    float mean, quick, slow;
};

// Mean square over a short while by that over a long one, of what differs from the running mean.
static __host__ __device__ inline float ratio_after(Detector *d, float sample) {
    d->mean += 0.02f * (sample - d->mean);
    float rest = sample - d->mean;
    d->quick += 0.2f * (rest * rest - d->quick);
    d->slow += 0.01f * (rest * rest - d->slow);
    return d->quick / (d->slow + 1e-3f);
}

// Earthquake detection at many stations; ratios of all times are kept.
__global__ void sta_lta(const float *samples, float *ratios, int stations, int times) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Detector detector = {0, 0, 0.5f};
#ifdef AFTER
    for (int t = 0; t < times; t += AHEAD) {
        float ahead[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            ahead[k] = samples[(t + k) * stations + i];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            ratios[(t + k) * stations + i] = ratio_after(&detector, ahead[k]);
    }
#else
    for (int t = 0; t < times; t++)
        ratios[t * stations + i] = ratio_after(&detector, samples[t * stations + i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sta_lta");
    int stations = p.small ? 512 : 1 << 14, times = p.small ? 4 * AHEAD : 64 * AHEAD;
    size_t n = (size_t)stations * times;
    std::vector<float> samples = random_floats(n, -1, 1, 1);
    for (size_t i = n / 2; i < n / 2 + n / 8; i++)  // the earthquake
        samples[i] *= 6;
    float *d_samples = device_copy_of(samples.data(), n), *d_ratios = device_array<float>(n);
    pair_time(&p, [&] { sta_lta<<<stations / BLOCK, BLOCK>>>(d_samples, d_ratios, stations, times); });
    std::vector<float> ratios = host_copy_of(d_ratios, n);
    for (int i = 0; i < stations; i += 101) {
        Detector detector = {0, 0, 0.5f};
        for (int t = 0; t < times; t++) {
            size_t at = (size_t)t * stations + i;
            pair_near(&p, "ratio", at, ratio_after(&detector, samples[at]), ratios[at], 1e-3);
        }
    }
    return pair_end(&p);
}
