// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: as many blocks are launched as the GPU holds at once, instead of one for each of the 48 plots.
// Why: two thirds of the SMs have nothing to do.
#include "../common.h"

enum { BLOCK = 256, DAYS = 6 };

struct Weather {
    float wind, humidity;
};

// How much to spray on each tree, and on which of the coming days the least of it drifts to the neighbour's hedge.
__global__ void spray(const float *heights, const float *widths, const float *hedges, const int *species,
                      const Weather *weather, float *litres, int *days, int trees) {
    for (int tree = blockIdx.x * BLOCK + threadIdx.x; tree < trees; tree += gridDim.x * BLOCK) {
        float height = heights[tree], width = widths[tree], hedge = hedges[tree], least = 1e30f;
        int kind = species[tree], best = 0;
        float need = height * width * (kind == 0 ? 0.12f : kind == 1 ? 0.09f : 0.15f);
        for (int day = 0; day < DAYS; day++) {
            Weather w = weather[day];
            float fall = height / (0.4f + w.humidity), reach = w.wind * fall;
            float drift = reach > hedge ? need * (1.0f - hedge / reach) + 0.001f * hedge : 0.001f * reach;
            if (drift < least) {
                least = drift;
                best = day;
            }
        }
        litres[tree] = need + least;
        days[tree] = best;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "orchard_spray");
    int trees = p.small ? 1 << 13 : 1 << 21;
#ifdef AFTER
    int blocks = p.small ? 32 : 132 * 8;
#else
    int blocks = p.small ? 2 : 48;
#endif
    std::vector<float> heights = random_floats(trees, 2, 6, 1), widths = random_floats(trees, 1, 4, 2),
                       hedges = random_floats(trees, 3, 60, 3);
    std::vector<int> species(trees);
    lcg_fill(species.data(), trees, 4, 3);
    std::vector<Weather> weather = {{5.5f, 0.7f}, {3.2f, 0.4f}, {1.4f, 0.6f}, {4.1f, 0.9f}, {2.2f, 0.8f}, {6, 0.5f}};
    float *d_heights = device_copy_of(heights.data(), trees), *d_widths = device_copy_of(widths.data(), trees),
          *d_hedges = device_copy_of(hedges.data(), trees), *d_litres = device_array<float>(trees);
    int *d_species = device_copy_of(species.data(), trees), *d_days = device_array<int>(trees);
    Weather *d_weather = device_copy_of(weather.data(), DAYS);
    pair_time(&p, [&] {
        spray<<<blocks, BLOCK>>>(d_heights, d_widths, d_hedges, d_species, d_weather, d_litres, d_days, trees);
    });
    std::vector<float> litres = host_copy_of(d_litres, trees);
    std::vector<int> days = host_copy_of(d_days, trees);
    for (int i = 0; i < trees; i += 53) {
        double need = (double)heights[i] * widths[i] * (species[i] == 0 ? 0.12 : species[i] == 1 ? 0.09 : 0.15);
        double least = 1e30, drifts[DAYS];
        for (int day = 0; day < DAYS; day++) {
            double reach = weather[day].wind * (heights[i] / (0.4 + weather[day].humidity));
            drifts[day] = reach > hedges[i] ? need * (1 - hedges[i] / reach) + 0.001 * hedges[i] : 0.001 * reach;
            least = std::min(least, drifts[day]);
        }
        pair_near(&p, "litres", i, need + least, litres[i], 1e-4);
        if (days[i] < 0 || days[i] >= DAYS)
            pair_near(&p, "day", i, 0, days[i], 0);
        else
            pair_near(&p, "drift", i, least, drifts[days[i]], 1e-4);
    }
    return pair_end(&p);
}
