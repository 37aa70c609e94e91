// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the three steps of a terrarium's day are one kernel.
// Why: each step is a few operations a cell; what it hands to the next one goes through memory, written and read again.
#include "../common.h"

enum { BLOCK = 256 };

__host__ __device__ inline float vapour_of(float water, float heat) { return water * heat / (1 + 0.5f * water); }

__host__ __device__ inline float drops_of(float vapour, float glass) { return fmaxf(vapour - 0.3f * glass, 0.0f); }

__host__ __device__ inline float moss_of(float drops, float vapour, float moss) {
    return moss + 0.2f * (drops + 0.1f * vapour) * (1 - moss);
}

#ifdef AFTER
__global__ void day(const float *water, const float *heat, const float *glass, float *moss, const float *sown,
                    int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= cells)
        return;
    float vapour = vapour_of(water[i], heat[i]);
    moss[i] = moss_of(drops_of(vapour, glass[i]), vapour, sown[i]);
}
#else
__global__ void evaporate(const float *water, const float *heat, float *vapour, int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < cells)
        vapour[i] = vapour_of(water[i], heat[i]);
}

__global__ void condense(const float *vapour, const float *glass, float *drops, int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < cells)
        drops[i] = drops_of(vapour[i], glass[i]);
}

__global__ void grow(const float *drops, const float *vapour, const float *sown, float *moss, int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < cells)
        moss[i] = moss_of(drops[i], vapour[i], sown[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "terrariums");
    int n = p.small ? 4000 : 9000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> water = random_floats(n, 0, 1, 1), heat = random_floats(n, 0, 1, 2),
                       glass = random_floats(n, 0, 1, 3), sown = random_floats(n, 0, 1, 4);
    float *d_water = device_copy_of(water.data(), n), *d_heat = device_copy_of(heat.data(), n),
          *d_glass = device_copy_of(glass.data(), n), *d_sown = device_copy_of(sown.data(), n),
          *d_moss = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { day<<<blocks, BLOCK>>>(d_water, d_heat, d_glass, d_moss, d_sown, n); });
#else
    float *d_vapour = device_array<float>(n), *d_drops = device_array<float>(n);
    pair_time(&p, [&] {
        evaporate<<<blocks, BLOCK>>>(d_water, d_heat, d_vapour, n);
        condense<<<blocks, BLOCK>>>(d_vapour, d_glass, d_drops, n);
        grow<<<blocks, BLOCK>>>(d_drops, d_vapour, d_sown, d_moss, n);
    });
#endif
    std::vector<float> moss = host_copy_of(d_moss, n);
    for (int i = 0; i < n; i += p.small ? 1 : 23) {
        float vapour = vapour_of(water[i], heat[i]);
        pair_near(&p, "moss", i, moss_of(drops_of(vapour, glass[i]), vapour, sown[i]), moss[i], 1e-4);
    }
    return pair_end(&p);
}
