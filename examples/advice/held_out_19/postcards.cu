// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the dye densities are measured and turned back into fresh colours by one kernel instead of two.
// Why: the densities of all pixels are written to memory just to be read once by the next kernel.
#include "../common.h"

enum { BLOCK = 256 };

struct Dyes {
    float cyan, magenta, yellow;
};

// What a scan of an old postcard tells about the dyes that are left; the paper itself has yellowed.
__device__ inline Dyes measure(float red, float green, float blue, float stain) {
    Dyes left;
    left.cyan = -__log2f(fmaxf(red, 0.004f));
    left.magenta = -__log2f(fmaxf(green, 0.004f)) - 0.1f * stain;
    left.yellow = -__log2f(fmaxf(blue, 0.004f)) - 0.4f * stain;
    return left;
}

// The light that the dyes let through once they are unmixed and as strong as on the first day.
__device__ inline float3 refresh(Dyes left) {
    float cyan = 1.30f * left.cyan - 0.22f * left.magenta - 0.05f * left.yellow;
    float magenta = -0.15f * left.cyan + 1.45f * left.magenta - 0.20f * left.yellow;
    float yellow = -0.04f * left.cyan - 0.25f * left.magenta + 1.80f * left.yellow;
    return make_float3(exp2f(-fmaxf(cyan, 0.0f)), exp2f(-fmaxf(magenta, 0.0f)), exp2f(-fmaxf(yellow, 0.0f)));
}

#ifdef AFTER
__global__ void restore(const float *scan, const float *stains, float *fresh, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Dyes left = measure(scan[i], scan[count + i], scan[2 * count + i], stains[i]);
    float3 light = refresh(left);
    fresh[i] = light.x;
    fresh[count + i] = light.y;
    fresh[2 * count + i] = light.z;
}
#else
__global__ void densities(const float *scan, const float *stains, float *dyes, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Dyes left = measure(scan[i], scan[count + i], scan[2 * count + i], stains[i]);
    dyes[i] = left.cyan;
    dyes[count + i] = left.magenta;
    dyes[2 * count + i] = left.yellow;
}

__global__ void reprint(const float *dyes, float *fresh, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Dyes left = {dyes[i], dyes[count + i], dyes[2 * count + i]};
    float3 light = refresh(left);
    fresh[i] = light.x;
    fresh[count + i] = light.y;
    fresh[2 * count + i] = light.z;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "postcards");
    int n = p.small ? 2048 : 3072 * 2048, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> scan = random_floats((size_t)3 * n, 0, 1, 1), stains = random_floats(n, 0, 0.5f, 2);
    float *d_scan = device_copy_of(scan.data(), scan.size()), *d_stains = device_copy_of(stains.data(), n),
          *d_fresh = device_array<float>((size_t)3 * n);
#ifdef AFTER
    pair_time(&p, [&] { restore<<<blocks, BLOCK>>>(d_scan, d_stains, d_fresh, n); });
#else
    float *d_dyes = device_array<float>((size_t)3 * n);
    pair_time(&p, [&] {
        densities<<<blocks, BLOCK>>>(d_scan, d_stains, d_dyes, n);
        reprint<<<blocks, BLOCK>>>(d_dyes, d_fresh, n);
    });
#endif
    std::vector<float> fresh = host_copy_of(d_fresh, (size_t)3 * n);
    for (int i = 0; i < n; i += p.small ? 1 : 41) {
        double c = -log2(std::max(scan[i], 0.004f)), m = -log2(std::max(scan[n + i], 0.004f)) - 0.1 * stains[i],
               y = -log2(std::max(scan[2 * n + i], 0.004f)) - 0.4 * stains[i];
        pair_near(&p, "red", i, exp2(-std::max(1.30 * c - 0.22 * m - 0.05 * y, 0.0)), fresh[i], 1e-4);
        pair_near(&p, "green", i, exp2(-std::max(-0.15 * c + 1.45 * m - 0.20 * y, 0.0)), fresh[n + i], 1e-4);
        pair_near(&p, "blue", i, exp2(-std::max(-0.04 * c - 0.25 * m + 1.80 * y, 0.0)), fresh[2 * n + i], 1e-4);
    }
    return pair_end(&p);
}
