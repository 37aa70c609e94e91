// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: what the next hour needs is loaded before this hour is computed, not at the head of the next hour.
// Why: the loads come after a store that they could overlap, so that the compiler leaves them there, and their values
// are needed at once; with few warps on an SM nothing else hides the wait.
#include "../common.h"

enum { BLOCK = 128, SUBSTEPS = 3 };

struct Kinetics {
    float acid_max, acid_half;                      // Monod
    float methane_max, methane_half, methane_stop;  // Haldane: inhibited by its own substrate
    float yield_acid, yield_methane;
    float turnover;  // share of the volume that is replaced in an hour
    float hours;     // of a substep
};

struct Sludge {
    float waste;        // substrate of the acid formers, g/l
    float acids;        // substrate of the methane formers, g/l
    float formers;      // acid formers, g/l
    float methanogens;  // g/l
};

// An hour in a stirred tank, in substeps; returns the methane.
static __device__ float ferment(const Kinetics &k, Sludge &s, float feed, float celsius) {
    float warm = expf(0.069f * (celsius - 35.0f)), gas = 0;
#pragma unroll
    for (int step = 0; step < SUBSTEPS; step++) {
        float grow = warm * k.acid_max * s.waste / (k.acid_half + s.waste) * s.formers;
        float breathe = warm * k.methane_max * s.acids /
                        (k.methane_half + s.acids + s.acids * s.acids * k.methane_stop) * s.methanogens;
        s.waste = fmaxf(0.0f, s.waste + k.hours * (k.turnover * (feed - s.waste) - grow));
        s.acids = fmaxf(0.0f, s.acids + k.hours * (0.8f * grow - k.turnover * s.acids - breathe));
        s.formers += k.hours * (k.yield_acid * grow - k.turnover * s.formers);
        s.methanogens += k.hours * (k.yield_methane * breathe - k.turnover * s.methanogens);
        gas += k.hours * 0.35f * breathe;
    }
    return gas;
}

// Biogas plants, one a thread, over `hours` hours of a record of what was fed and how warm the tank was. Records are
// stored by hours: all plants' first hour, all plants' second hour, and so on.
__global__ void digesters(Kinetics k, const float *feed, const float *celsius, float *methane, float *rest, int plants,
                          int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= plants)
        return;
    Sludge s = {12, 2, 1.5f, 1};
#ifdef AFTER
    float next_fed = feed[i], next_warm = celsius[i];
    for (int hour = 0; hour < hours; hour++) {
        size_t at = (size_t)hour * plants + i;
        float fed = next_fed, warm = next_warm;
        if (hour + 1 < hours) {
            next_fed = feed[at + plants];
            next_warm = celsius[at + plants];
        }
        methane[at] = ferment(k, s, fed, warm);
    }
#else
    for (int hour = 0; hour < hours; hour++) {
        size_t at = (size_t)hour * plants + i;
        float fed = feed[at], warm = celsius[at];
        methane[at] = ferment(k, s, fed, warm);
    }
#endif
    rest[i] = s.waste + s.acids;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "digesters");
    int plants = p.small ? 132 * BLOCK / 2 : 132 * 2 * BLOCK - 50, hours = p.small ? 48 : 288;
    Kinetics k = {0.05f, 4.0f, 0.04f, 1.2f, 0.06f, 0.12f, 0.07f, 0.004f, 1.0f / SUBSTEPS};
    size_t n = (size_t)plants * hours;
    std::vector<float> feed = random_floats(n, 20, 90, 1), celsius = random_floats(n, 33, 40, 2);
    float *d_feed = device_copy_of(feed.data(), n), *d_celsius = device_copy_of(celsius.data(), n),
          *d_methane = device_array<float>(n), *d_rest = device_array<float>(plants);
    int blocks = (plants + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { digesters<<<blocks, BLOCK>>>(k, d_feed, d_celsius, d_methane, d_rest, plants, hours); });
    std::vector<float> methane = host_copy_of(d_methane, n), rest = host_copy_of(d_rest, plants);
    for (int i = 0; i < plants; i += plants / 83) {
        double waste = 12, acids = 2, formers = 1.5, methanogens = 1, h = k.hours;
        for (int hour = 0; hour < hours; hour++) {
            size_t at = (size_t)hour * plants + i;
            double warm = exp(0.069 * (celsius[at] - 35.0)), gas = 0;
            for (int step = 0; step < SUBSTEPS; step++) {
                double grow = warm * k.acid_max * waste / (k.acid_half + waste) * formers;
                double breathe = warm * k.methane_max * acids /
                                 (k.methane_half + acids + acids * acids * k.methane_stop) * methanogens;
                waste = std::max(0.0, waste + h * (k.turnover * (feed[at] - waste) - grow));
                acids = std::max(0.0, acids + h * (0.8 * grow - k.turnover * acids - breathe));
                formers += h * (k.yield_acid * grow - k.turnover * formers);
                methanogens += h * (k.yield_methane * breathe - k.turnover * methanogens);
                gas += h * 0.35 * breathe;
            }
            pair_near(&p, "methane", at, gas, methane[at], 2e-5);
        }
        pair_near(&p, "rest", i, waste + acids, rest[i], 1e-3);
    }
    return pair_end(&p);
}
