// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: calibration, leaf cover and thirst are computed in one kernel; what was between them stays in registers.
// Why: each kernel does little with a pixel, and what it finds goes through memory to the next one.
#include "../common.h"

enum { BLOCK = 256 };

struct Camera {
    float red_gain, red_dark, nir_gain, nir_dark, air;
};

__device__ static float reflected(float raw, float gain, float dark) {
    return fminf(fmaxf((raw - dark) * gain, 0.0f), 1.0f);
}

__device__ static float cover_of(float red, float nir) {  // soil-adjusted index, then the part that is leaves
    float savi = 1.5f * __fdividef(nir - red, nir + red + 0.5f);
    float part = fminf(fmaxf((savi - 0.08f) * 1.6f, 0.0f), 1.0f);
    return part * part;
}

__device__ static float thirst_of(float cover, float kelvin, float air) {
    float wet = air - 3.5f * cover, dry = air + 12.0f - 7.0f * cover;
    return cover > 0.04f ? fminf(fmaxf(__fdividef(kelvin - wet, dry - wet), 0.0f), 1.0f) : -1.0f;
}

#ifdef AFTER
__global__ void survey(const float *raw_red, const float *raw_nir, const float *thermal, float *thirst, Camera c,
                       int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float red = reflected(raw_red[i], c.red_gain, c.red_dark), nir = reflected(raw_nir[i], c.nir_gain, c.nir_dark);
    thirst[i] = thirst_of(cover_of(red, nir), thermal[i], c.air);
}
#else
__global__ void calibrate(const float *raw_red, const float *raw_nir, float *red, float *nir, Camera c, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    red[i] = reflected(raw_red[i], c.red_gain, c.red_dark);
    nir[i] = reflected(raw_nir[i], c.nir_gain, c.nir_dark);
}

__global__ void leaf_cover(const float *red, const float *nir, float *cover, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        cover[i] = cover_of(red[i], nir[i]);
}

__global__ void water_stress(const float *cover, const float *thermal, float *thirst, Camera c, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        thirst[i] = thirst_of(cover[i], thermal[i], c.air);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vineyards");
    int n = p.small ? 3072 : 132 * 256 * 256;
    Camera camera = {0.0011f, 40.0f, 0.0009f, 55.0f, 301.0f};
    std::vector<float> raw_red = random_floats(n, 60, 500, 1), raw_nir = random_floats(n, 100, 1100, 2),
                       thermal = random_floats(n, 296, 316, 3);
    float *d_raw_red = device_copy_of(raw_red.data(), n), *d_raw_nir = device_copy_of(raw_nir.data(), n),
          *d_thermal = device_copy_of(thermal.data(), n), *d_thirst = device_array<float>(n);
    int blocks = (n + BLOCK - 1) / BLOCK;
#ifdef AFTER
    pair_time(&p, [&] { survey<<<blocks, BLOCK>>>(d_raw_red, d_raw_nir, d_thermal, d_thirst, camera, n); });
#else
    float *d_red = device_array<float>(n), *d_nir = device_array<float>(n), *d_cover = device_array<float>(n);
    pair_time(&p, [&] {
        calibrate<<<blocks, BLOCK>>>(d_raw_red, d_raw_nir, d_red, d_nir, camera, n);
        leaf_cover<<<blocks, BLOCK>>>(d_red, d_nir, d_cover, n);
        water_stress<<<blocks, BLOCK>>>(d_cover, d_thermal, d_thirst, camera, n);
    });
#endif
    std::vector<float> thirst = host_copy_of(d_thirst, n);
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        double red = std::min(std::max(((double)raw_red[i] - camera.red_dark) * camera.red_gain, 0.0), 1.0),
               nir = std::min(std::max(((double)raw_nir[i] - camera.nir_dark) * camera.nir_gain, 0.0), 1.0),
               savi = 1.5 * (nir - red) / (nir + red + 0.5),
               part = std::min(std::max((savi - 0.08) * 1.6, 0.0), 1.0), cover = part * part,
               wet = camera.air - 3.5 * cover, dry = camera.air + 12.0 - 7 * cover;
        if (fabs(cover - 0.04) < 1e-5)
            continue;  // either is right
        double expected = cover > 0.04 ? std::min(std::max((thermal[i] - wet) / (dry - wet), 0.0), 1.0) : -1;
        pair_near(&p, "thirst", i, expected, thirst[i], 1e-3);
    }
    return pair_end(&p);
}
