// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the lags of a geyser are shared out among eight CTAs, instead of one that does them all.
// Why: 44 geysers give 44 CTAs, which leave two thirds of the SMs without work and the others with few warps.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
enum { CTAS_PER_GEYSER = 8 };
#else
enum { CTAS_PER_GEYSER = 1 };
#endif

// Autocorrelation of the water level of each geyser, to find its period.
__global__ void periods(const float *level, float *correlation, int samples, int lags) {
    const float *own = level + (size_t)blockIdx.y * samples;
    for (int lag = blockIdx.x * BLOCK + threadIdx.x; lag < lags; lag += gridDim.x * BLOCK) {
        float sum = 0;
        for (int i = 0; i < samples - lags; i++)
            sum += own[i] * own[i + lag];
        correlation[(size_t)blockIdx.y * lags + lag] = sum / (samples - lags);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "geysers");
    int geysers = p.small ? 2 : 44, samples = p.small ? 2300 : 6000, lags = 2048;
    std::vector<float> level = random_floats((size_t)geysers * samples, -0.5f, 0.5f, 1);
    for (int g = 0; g < geysers; g++)
        for (int i = 0; i < samples; i++)
            level[(size_t)g * samples + i] += sinf(i * 6.2832f / (100 + 31 * g));
    float *d_level = device_copy_of(level.data(), level.size());
    float *d_correlation = device_array<float>((size_t)geysers * lags);
    pair_time(&p, [&] { periods<<<dim3(CTAS_PER_GEYSER, geysers), BLOCK>>>(d_level, d_correlation, samples, lags); });
    std::vector<float> correlation = host_copy_of(d_correlation, (size_t)geysers * lags);
    for (int g = 0; g < geysers; g++)
        for (int lag = g; lag < lags; lag += 67) {
            const float *own = &level[(size_t)g * samples];
            double sum = 0;
            for (int i = 0; i < samples - lags; i++)
                sum += (double)own[i] * own[i + lag];
            pair_near(&p, "correlation", (size_t)g * lags + lag, sum / (samples - lags),
                      correlation[(size_t)g * lags + lag], 1e-4);
        }
    return pair_end(&p);
}
