// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the weather is stored day by day, with the beds side by side, instead of bed by bed.
// Why: neighbouring threads have neighbouring beds, whose values of one day are a whole season apart.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define AT(bed, day) ((size_t)(day) * beds + (bed))
#else
#define AT(bed, day) ((size_t)(bed) * days + (day))
#endif

// When the tulips of a bed will flower and how tall: cold first, then warmth; one thread per bed.
__global__ void flowering(const float *warmth, const float *rain, float *heights, float *progress, int beds,
                          int days) {
    int bed = blockIdx.x * BLOCK + threadIdx.x;
    if (bed >= beds)
        return;
    float chill = 0, forcing = 0, water = 0.5f, height = 0;
    for (int d = 0; d < days; d++) {
        float t = warmth[AT(bed, d)];
        water = fminf(1.0f, water + 0.03f * rain[AT(bed, d)]);
        float used = 0.02f * fmaxf(t, 0.0f) * water;
        water -= 0.5f * used;
        chill += fmaxf(0.0f, 1.0f - fabsf(t - 5.0f) * 0.2f);
        float ready = fminf(1.0f, chill * 0.05f);
        forcing += ready * fmaxf(0.0f, t - 6.0f);
        height += used * fminf(1.0f, forcing * 0.02f);
    }
    heights[bed] = height;
    progress[bed] = forcing;
}

// Both arrays are made for AT(bed, day).
static std::vector<float> stored(const std::vector<float> &by_bed, int beds, int days) {
    std::vector<float> out(by_bed.size());
    for (int bed = 0; bed < beds; bed++)
        for (int d = 0; d < days; d++)
            out[AT(bed, d)] = by_bed[(size_t)bed * days + d];
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tulips");
    int beds = p.small ? 256 : 132 * 1024, days = p.small ? 28 : 120;
    size_t n = (size_t)beds * days;
    std::vector<float> warmth = random_floats(n, -4, 18, 1), rain = random_floats(n, 0, 4, 2);
    float *d_warmth = device_copy_of(stored(warmth, beds, days).data(), n),
          *d_rain = device_copy_of(stored(rain, beds, days).data(), n), *d_heights = device_array<float>(beds),
          *d_progress = device_array<float>(beds);
    pair_time(&p, [&] {
        flowering<<<(beds + BLOCK - 1) / BLOCK, BLOCK>>>(d_warmth, d_rain, d_heights, d_progress, beds, days);
    });
    std::vector<float> heights = host_copy_of(d_heights, beds), progress = host_copy_of(d_progress, beds);
    for (int bed = 0; bed < beds; bed += p.small ? 1 : 31) {
        double chill = 0, forcing = 0, water = 0.5, height = 0;
        for (int d = 0; d < days; d++) {
            double t = warmth[(size_t)bed * days + d];
            water = std::min(1.0, water + 0.03 * rain[(size_t)bed * days + d]);
            double used = 0.02 * std::max(t, 0.0) * water;
            water -= 0.5 * used;
            chill += std::max(0.0, 1 - fabs(t - 5) * 0.2);
            forcing += std::min(1.0, chill * 0.05) * std::max(0.0, t - 6);
            height += used * std::min(1.0, forcing * 0.02);
        }
        pair_near(&p, "height", bed, height, heights[bed], 1e-3);
        pair_near(&p, "progress", bed, forcing, progress[bed], 1e-3);
    }
    return pair_end(&p);
}
