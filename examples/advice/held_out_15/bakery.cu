// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: proving and baking of a loaf are one kernel.
// Why: the second kernel does nothing but go on with what the first one has just written, loaf by loaf.
#include "../common.h"

enum { BLOCK = 256 };

static __device__ float risen_of(float warmth, float hours, float yeast) {
    float active = __saturatef((warmth - 4.0f) * (1.0f / 30.0f)) * __saturatef((48.0f - warmth) * 0.1f);
    return 1.0f + yeast * active * hours / (1.0f + 0.5f * hours);
}

static __device__ float2 baked(float risen, float oven, float water) {  // the crust and what is lost
    float dry = fmaxf(oven - 140.0f, 0.0f) * 0.008f, open = risen > 2.2f ? 2.2f - 0.5f * (risen - 2.2f) : risen;
    return make_float2(dry * open * (1.0f - water), water * (0.1f + 0.04f * dry * open));
}

#ifdef AFTER
// A day's loaves, from dough to bread.
__global__ void bread(const float *warmths, const float *hours, const float *yeasts, const float *ovens,
                      const float *waters, float *crusts, float *losses) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 loaf = baked(risen_of(warmths[i], hours[i], yeasts[i]), ovens[i], waters[i]);
    crusts[i] = loaf.x;
    losses[i] = loaf.y;
}
#else
// How far the doughs of a day's loaves rise.
__global__ void prove(const float *warmths, const float *hours, const float *yeasts, float *risen) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    risen[i] = risen_of(warmths[i], hours[i], yeasts[i]);
}

// What the oven makes of them.
__global__ void bake(const float *risen, const float *ovens, const float *waters, float *crusts, float *losses) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 loaf = baked(risen[i], ovens[i], waters[i]);
    crusts[i] = loaf.x;
    losses[i] = loaf.y;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bakery");
    int n = p.small ? 1 << 14 : 3 << 22;
    std::vector<float> warmth = random_floats(n, 2, 50, 1), hours = random_floats(n, 0.5f, 6, 2),
                       yeast = random_floats(n, 0.2f, 1.5f, 3), oven = random_floats(n, 120, 260, 4),
                       water = random_floats(n, 0.55f, 0.85f, 5);
    float *d_warmth = device_copy_of(warmth.data(), n), *d_hours = device_copy_of(hours.data(), n),
          *d_yeast = device_copy_of(yeast.data(), n), *d_oven = device_copy_of(oven.data(), n),
          *d_water = device_copy_of(water.data(), n), *d_crusts = device_array<float>(n),
          *d_losses = device_array<float>(n);
#ifdef AFTER
    pair_time(&p,
              [&] { bread<<<n / BLOCK, BLOCK>>>(d_warmth, d_hours, d_yeast, d_oven, d_water, d_crusts, d_losses); });
#else
    float *d_risen = device_array<float>(n);
    pair_time(&p, [&] {
        prove<<<n / BLOCK, BLOCK>>>(d_warmth, d_hours, d_yeast, d_risen);
        bake<<<n / BLOCK, BLOCK>>>(d_risen, d_oven, d_water, d_crusts, d_losses);
    });
#endif
    std::vector<float> crusts = host_copy_of(d_crusts, n), losses = host_copy_of(d_losses, n);
    for (int i = 0; i < n; i += 71) {
        double active = std::min(std::max((warmth[i] - 4.0) / 30, 0.0), 1.0) *
                        std::min(std::max((48.0 - warmth[i]) / 10, 0.0), 1.0);
        double risen = 1 + yeast[i] * active * hours[i] / (1 + 0.5 * hours[i]);
        double open = risen > 2.2 ? 2.2 - 0.5 * (risen - 2.2) : risen, dry = std::max(oven[i] - 140.0, 0.0) * 0.008;
        pair_near(&p, "crust", i, dry * open * (1.0 - water[i]), crusts[i], 1e-4);
        pair_near(&p, "loss", i, water[i] * (0.1 + 0.04 * dry * open), losses[i], 1e-4);
    }
    return pair_end(&p);
}
