// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over days is unrolled eight times.
// Why: each turn waits for its own two loads before the next one begins.
#include "../common.h"

enum { BLOCK = 128, DAYS = 128 };

// How much snow lies at the end of a winter; it never gets less than none.
__global__ void snow_cover(const float *fallen, const float *melted, float *out, int places) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float snow = 0;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int d = 0; d < DAYS; d++)
        snow = fmaxf(snow + fallen[d * places + i] - melted[d * places + i], 0.0f);
    out[i] = snow;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "snow_cover");
    int places = p.small ? 1 << 12 : 1 << 17;
    std::vector<float> fallen = random_floats((size_t)places * DAYS, 0, 1, 1),
                       melted = random_floats((size_t)places * DAYS, 0, 0.9f, 2);
    float *d_fallen = device_copy_of(fallen.data(), fallen.size()),
          *d_melted = device_copy_of(melted.data(), melted.size()), *d_out = device_array<float>(places);
    pair_time(&p, [&] { snow_cover<<<places / BLOCK, BLOCK>>>(d_fallen, d_melted, d_out, places); });
    std::vector<float> out = host_copy_of(d_out, places);
    for (int i = 0; i < places; i += 61) {
        float snow = 0;
        for (int d = 0; d < DAYS; d++)
            snow = std::max(snow + fallen[(size_t)d * places + i] - melted[(size_t)d * places + i], 0.0f);
        pair_near(&p, "snow", i, snow, out[i], 1e-4);
    }
    return pair_end(&p);
}
