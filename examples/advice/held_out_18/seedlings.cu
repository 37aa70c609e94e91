// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what describes a seedling and its state are kept in registers through the season.
// Why: they are read from memory, and the state written back, day by day, though only this thread touches them.
#include "../common.h"

enum { BLOCK = 256, DAYS = 120 };

struct Tray {  // an array of each, with one value per seedling
    const float *base, *vigour, *tallest, *thirst, *first_height;
    float *height, *leaf, *stress;
};

// How the seedlings of a nursery grow with the warmth (x) and water (y) of each day.
__global__ void grow(Tray tray, const float2 *days, int count) {
    __shared__ float2 weather[DAYS];
    for (int d = threadIdx.x; d < DAYS; d += BLOCK)
        weather[d] = days[d];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
#ifdef AFTER
    float base = tray.base[i], vigour = tray.vigour[i], tallest = tray.tallest[i], thirst = tray.thirst[i];
    float height = tray.first_height[i], leaf = 0.1f, stress = 0;
    for (int d = 0; d < DAYS; d++) {
        float2 day = weather[d];
        float warm = fmaxf(day.x - base, 0.0f);
        float need = thirst * leaf * (0.2f + 0.05f * warm);
        float lack = fmaxf(need - day.y, 0.0f);
        stress = 0.9f * stress + lack;
        float growth = vigour * warm * leaf * fmaxf(1 - 0.5f * stress, 0.0f);
        height += growth * fmaxf(tallest - height, 0.0f);
        leaf += 0.3f * growth - 0.002f * leaf;
    }
    tray.height[i] = height;
    tray.leaf[i] = leaf;
    tray.stress[i] = stress;
#else
    tray.height[i] = tray.first_height[i];
    tray.leaf[i] = 0.1f;
    tray.stress[i] = 0;
    for (int d = 0; d < DAYS; d++) {
        float2 day = weather[d];
        float warm = fmaxf(day.x - tray.base[i], 0.0f);
        float need = tray.thirst[i] * tray.leaf[i] * (0.2f + 0.05f * warm);
        float lack = fmaxf(need - day.y, 0.0f);
        tray.stress[i] = 0.9f * tray.stress[i] + lack;
        float growth = tray.vigour[i] * warm * tray.leaf[i] * fmaxf(1 - 0.5f * tray.stress[i], 0.0f);
        tray.height[i] += growth * fmaxf(tray.tallest[i] - tray.height[i], 0.0f);
        tray.leaf[i] += 0.3f * growth - 0.002f * tray.leaf[i];
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "seedlings");
    int n = p.small ? 64 : 1 << 20;
    std::vector<float> base = random_floats(n, 4, 9, 1), vigour = random_floats(n, 0.002f, 0.006f, 2),
                       tallest = random_floats(n, 0.5f, 2, 3), thirst = random_floats(n, 0.2f, 1.5f, 4),
                       first_height = random_floats(n, 0.01f, 0.03f, 5), warmth = random_floats(DAYS, 2, 22, 6),
                       water = random_floats(DAYS, 0, 0.4f, 7);
    std::vector<float2> days(DAYS);
    for (int d = 0; d < DAYS; d++)
        days[d] = make_float2(warmth[d], water[d]);
    Tray tray = {device_copy_of(base.data(), n),
                 device_copy_of(vigour.data(), n),
                 device_copy_of(tallest.data(), n),
                 device_copy_of(thirst.data(), n),
                 device_copy_of(first_height.data(), n),
                 device_array<float>(n),
                 device_array<float>(n),
                 device_array<float>(n)};
    float2 *d_days = device_copy_of(days.data(), DAYS);
    pair_time(&p, [&] { grow<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(tray, d_days, n); });
    std::vector<float> heights = host_copy_of(tray.height, n), leaves = host_copy_of(tray.leaf, n),
                       stresses = host_copy_of(tray.stress, n);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        double height = first_height[i], leaf = 0.1, stress = 0;
        for (int d = 0; d < DAYS; d++) {
            double warm = std::max(0.0, (double)days[d].x - base[i]), need = thirst[i] * leaf * (0.2 + 0.05 * warm);
            stress = 0.9 * stress + std::max(need - days[d].y, 0.0);
            double growth = vigour[i] * warm * leaf * std::max(1 - 0.5 * stress, 0.0);
            height += growth * std::max(tallest[i] - height, 0.0);
            leaf += 0.3 * growth - 0.002 * leaf;
        }
        pair_near(&p, "height", i, height, heights[i], 1e-3);
        pair_near(&p, "leaf", i, leaf, leaves[i], 1e-3);
        pair_near(&p, "stress", i, stress, stresses[i], 1e-3);
    }
    return pair_end(&p);
}
