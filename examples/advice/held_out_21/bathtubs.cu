// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: level, warmth and waste of a tub are held in local variables and stored once at the end.
// Why: they were loaded and stored in each minute, because the compiler must expect that the arrays overlap.
#include "../common.h"

enum { BLOCK = 256 };

// Bathtubs of an hotel through an evening: what runs in and out, how warm the water is, and what went down the
// overflow. One thread per tub; the mains pressure and the temperature of the boiler are the same for all.
__global__ void evening(const float *taps, const float *drains, const float *pressure, const float *boiler,
                        float *levels, float *warmths, float *wasted, int n, int minutes, float brim) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
#ifdef AFTER
    float level = 20, warmth = 30, waste = 0, tap = taps[i], drain = drains[i];
#define LEVEL level
#define WARMTH warmth
#define WASTE waste
#define TAP tap
#define DRAIN drain
#else
#define LEVEL levels[i]
#define WARMTH warmths[i]
#define WASTE wasted[i]
#define TAP taps[i]
#define DRAIN drains[i]
    levels[i] = 20;
    warmths[i] = 30;
    wasted[i] = 0;
#endif
    for (int m = 0; m < minutes; m++) {
        float in = TAP * pressure[m];
        WARMTH += __fdividef(in * (boiler[m] - WARMTH), LEVEL + in) - 0.004f * (WARMTH - 21);
        LEVEL += in - DRAIN * sqrtf(LEVEL);
        if (LEVEL > brim) {
            WASTE += LEVEL - brim;
            LEVEL = brim;
        }
        LEVEL = fmaxf(LEVEL, 1.0f);
    }
#ifdef AFTER
    levels[i] = level;
    warmths[i] = warmth;
    wasted[i] = waste;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bathtubs");
    int n = p.small ? 1024 : 132 * 2048, minutes = p.small ? 20 : 120;
    float brim = 150;
    std::vector<float> taps = random_floats(n, 2, 9, 1), drains = random_floats(n, 0.1f, 0.8f, 2),
                       pressure = random_floats(minutes, 0.5f, 1.2f, 3), boiler = random_floats(minutes, 35, 60, 4);
    float *d_taps = device_copy_of(taps.data(), n), *d_drains = device_copy_of(drains.data(), n),
          *d_pressure = device_copy_of(pressure.data(), minutes), *d_boiler = device_copy_of(boiler.data(), minutes),
          *d_levels = device_array<float>(n), *d_warmths = device_array<float>(n), *d_wasted = device_array<float>(n);
    pair_time(&p, [&] {
        evening<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_taps, d_drains, d_pressure, d_boiler, d_levels, d_warmths,
                                                    d_wasted, n, minutes, brim);
    });
    std::vector<float> levels = host_copy_of(d_levels, n), warmths = host_copy_of(d_warmths, n),
                       wasted = host_copy_of(d_wasted, n);
    for (int i = 0; i < n; i += p.small ? 1 : 47) {
        double level = 20, warmth = 30, waste = 0;
        for (int m = 0; m < minutes; m++) {
            double in = (double)taps[i] * pressure[m];
            warmth += in * (boiler[m] - warmth) / (level + in) - 0.004 * (warmth - 21);
            level += in - drains[i] * sqrt(level);
            waste += std::max(0.0, level - brim);
            level = std::max(1.0, std::min(level, (double)brim));
        }
        pair_near(&p, "level", i, level, levels[i], 2e-3);
        pair_near(&p, "warmth", i, warmth, warmths[i], 2e-3);
        pair_near(&p, "wasted", i, waste, wasted[i], 2e-3);
    }
    return pair_end(&p);
}
