// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: which trait a thread computes is told by its warp, not by its place within the warp.
// Why: each warp has threads for all four traits, so that it runs the four computations one after another.
#include "../common.h"

enum { BLOCK = 128, TRAITS = 4, PLANTS = BLOCK / TRAITS };

// Four traits of each orchid of a nursery, each simulated over a number of weeks in its own way.
__global__ void breed(const float *light, const float *water, float *traits, int plants, int weeks) {
#ifdef AFTER
    int trait = threadIdx.x / PLANTS, mine = threadIdx.x % PLANTS;
#else
    int trait = threadIdx.x % TRAITS, mine = threadIdx.x / TRAITS;
#endif
    int plant = blockIdx.x * PLANTS + mine;
    if (plant >= plants)
        return;
    float sun = light[plant], rain = water[plant], value = 0.5f;
    if (trait == 0) {  // leaves: they grow while there is light
        for (int w = 0; w < weeks; w++)
            value += 0.1f * sun * value * (1 - value) - 0.01f * value * rain;
    } else if (trait == 1) {  // roots: they look for water
        for (int w = 0; w < weeks; w++)
            value = sqrtf(0.7f * value * value + 0.3f * rain * value + 0.01f);
    } else if (trait == 2) {  // scent: it goes with the warmth of the day
        for (int w = 0; w < weeks; w++)
            value = 0.8f * value + 0.2f * __expf(-value * sun);
    } else {  // colour: light bleaches it, water brings it back
        for (int w = 0; w < weeks; w++)
            value = __fdividef(value + 0.1f * rain, 1 + 0.2f * sun * value);
    }
    traits[(size_t)trait * plants + plant] = value;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "orchids");
    int plants = p.small ? 1024 : 132 * 4096, weeks = p.small ? 10 : 52;
    std::vector<float> light = random_floats(plants, 0, 1, 1), water = random_floats(plants, 0, 1, 2);
    float *d_light = device_copy_of(light.data(), plants), *d_water = device_copy_of(water.data(), plants),
          *d_traits = device_array<float>((size_t)TRAITS * plants);
    pair_time(&p, [&] { breed<<<plants / PLANTS, BLOCK>>>(d_light, d_water, d_traits, plants, weeks); });
    std::vector<float> traits = host_copy_of(d_traits, (size_t)TRAITS * plants);
    for (int i = 0; i < plants; i += p.small ? 1 : 43) {
        double v[TRAITS] = {0.5, 0.5, 0.5, 0.5}, sun = light[i], rain = water[i];
        for (int w = 0; w < weeks; w++) {
            v[0] += 0.1 * sun * v[0] * (1 - v[0]) - 0.01 * v[0] * rain;
            v[1] = sqrt(0.7 * v[1] * v[1] + 0.3 * rain * v[1] + 0.01);
            v[2] = 0.8 * v[2] + 0.2 * exp(-v[2] * sun);
            v[3] = (v[3] + 0.1 * rain) / (1 + 0.2 * sun * v[3]);
        }
        for (int t = 0; t < TRAITS; t++)
            pair_near(&p, "traits", (size_t)t * plants + i, v[t], traits[(size_t)t * plants + i], 1e-3);
    }
    return pair_end(&p);
}
