// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the weather of the next day is loaded before the hours of the current day are worked through.
// Why: it was loaded right before its use, so that every day began with a wait for memory.
#include "../common.h"

enum { BLOCK = 96, HOURS = 8 };  // three real hours each

struct Pond {
    float area, sill, outlet;  // thousands of square metres; metres; width of the outlet
};

// A day of a pond: rain comes in, warmth dries it, and what stands above the sill flows out.
static __host__ __device__ float day_of(const Pond &pond, float level, float rain, float warmth, float *outflow) {
    float total = 0;
    for (int hour = 0; hour < HOURS; hour++) {
        float above = fmaxf(level - pond.sill, 0.0f);
        float out = fminf(pond.outlet * above * sqrtf(above), above);
        float dry = 0.0004f * warmth * (1.0f + 0.1f * level);
        level = fmaxf(level + (rain * (1.0f + pond.area) / HOURS - out) / (1.0f + 0.2f * level) - dry, 0.0f);
        total += out;
    }
    *outflow = total;
    return level;
}

// Follows the level of each pond through the days; a thread per pond, days[d * count + i].
__global__ void levels_of(const Pond *ponds, const float *rains, const float *warmths, float *levels, float *outflows,
                          int count, int days) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Pond pond = ponds[i];
    float level = pond.sill;
#ifdef AFTER
    float rain = rains[i], warmth = warmths[i];
#endif
    for (int d = 0; d < days; d++) {
        size_t at = (size_t)d * count + i;
        float outflow;
#ifdef AFTER
        size_t next = d + 1 < days ? at + count : at;
        float next_rain = rains[next], next_warmth = warmths[next];
#else
        float rain = rains[at], warmth = warmths[at];
#endif
        level = day_of(pond, level, rain, warmth, &outflow);
        levels[at] = level;
        outflows[at] = outflow;
#ifdef AFTER
        rain = next_rain;
        warmth = next_warmth;
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ponds");
    int count = p.small ? 150 : 132 * 2 * BLOCK, days = p.small ? 10 : 300;
    std::vector<float> rains = random_floats((size_t)count * days, -0.1f, 0.1f, 1),
                       warmths = random_floats((size_t)count * days, 0, 30, 9);
    for (float &rain : rains)
        rain = std::max(rain, 0.0f);
    std::vector<Pond> ponds(count);
    for (int i = 0; i < count; i++)
        ponds[i] = {0.2f + i % 7 * 0.1f, 1.0f + i % 5 * 0.25f, 0.1f + i % 11 * 0.02f};
    Pond *d_ponds = device_copy_of(ponds.data(), count);
    float *d_rains = device_copy_of(rains.data(), rains.size()),
          *d_warmths = device_copy_of(warmths.data(), warmths.size()), *d_levels = device_array<float>(rains.size()),
          *d_outflows = device_array<float>(rains.size());
    pair_time(&p, [&] {
        levels_of<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_ponds, d_rains, d_warmths, d_levels, d_outflows, count,
                                                          days);
    });
    std::vector<float> levels = host_copy_of(d_levels, rains.size()), outflows = host_copy_of(d_outflows, rains.size());
    for (int i = 0; i < count; i += p.small ? 1 : 47) {
        float level = ponds[i].sill, outflow;
        for (int d = 0; d < days; d++) {
            size_t at = (size_t)d * count + i;
            level = day_of(ponds[i], level, rains[at], warmths[at], &outflow);
            pair_near(&p, "level", at, level, levels[at], 1e-3);
            pair_near(&p, "outflow", at, outflow, outflows[at], 1e-3);
        }
    }
    return pair_end(&p);
}
