// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the years is unrolled eight times, with sums of their own.
// Why: each year waits for its own load, and the sum of the year before.
#include "../common.h"

enum { BLOCK = 64 };

// Mean and spread of each gauge's levels over the years.
__global__ void gauge_sums(const float *levels, float2 *out, int gauges, int years) {
    int g = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0, squares = 0;
#ifdef AFTER
    float sums[8] = {0}, more[8] = {0};
    for (int y = 0; y < years; y += 8)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float x = levels[(size_t)(y + k) * gauges + g];
            sums[k] += x, more[k] += x * x;
        }
    for (int k = 0; k < 8; k++)
        sum += sums[k], squares += more[k];
#else
#pragma unroll 1
    for (int y = 0; y < years; y++) {
        float x = levels[(size_t)y * gauges + g];
        sum += x, squares += x * x;
    }
#endif
    float mean = sum / years;
    out[g] = make_float2(mean, squares / years - mean * mean);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gauge_sums");
    int gauges = p.small ? 1 << 12 : 1 << 15, years = 512;
    std::vector<float> levels = random_floats((size_t)gauges * years, 0, 2, 1);
    float *d_levels = device_copy_of(levels.data(), levels.size());
    float2 *d_out = device_array<float2>(gauges);
    pair_time(&p, [&] { gauge_sums<<<gauges / BLOCK, BLOCK>>>(d_levels, d_out, gauges, years); });
    std::vector<float2> out = host_copy_of(d_out, gauges);
    for (int g = 0; g < gauges; g += 997) {
        double sum = 0;
        for (int y = 0; y < years; y++)
            sum += levels[(size_t)y * gauges + g] / years;
        pair_near(&p, "mean", g, sum, out[g].x, 1e-4);
    }
    return pair_end(&p);
}
