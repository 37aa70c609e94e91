// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the light of the lamps is computed with the fast intrinsics for sine, exponential, power and division.
// Why: each lamp costs hundreds of instructions for accurate functions, and the result is only a colour on a screen.
#include "../common.h"

struct Lamp {
    float x, y, z, speed, shine;
    float colour[3];
};

enum { LAMPS = 6 };

__constant__ Lamp lamps[LAMPS];

struct Maths {
#ifdef AFTER
    static __device__ float sine(float x) { return __sinf(x); }
    static __device__ float exponential(float x) { return __expf(x); }
    static __device__ float power(float x, float y) { return __powf(x, y); }
    static __device__ float ratio(float x, float y) { return __fdividef(x, y); }
#else
    static __device__ float sine(float x) { return sinf(x); }
    static __device__ float exponential(float x) { return expf(x); }
    static __device__ float power(float x, float y) { return powf(x, y); }
    static __device__ float ratio(float x, float y) { return x / y; }
#endif
};

// The drops of a fountain, lit by pulsating lamps around the basin.
__global__ void light_drops(const float *x, const float *y, const float *z, float *red, float *green, float *blue,
                            int drops, int lit, float time) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= drops)
        return;
    float px = x[i], py = y[i], pz = z[i], r = 0, g = 0, b = 0;
    for (int l = 0; l < lit; l++) {
        const Lamp &lamp = lamps[l];
        float dx = lamp.x - px, dy = lamp.y - py, dz = lamp.z - pz;
        float distance = sqrtf(dx * dx + dy * dy + dz * dz);
        float facing = fmaxf(0.05f, Maths::ratio(fabsf(dz), distance));
        float pulse = 1.5f + Maths::sine(lamp.speed * time - 0.3f * distance);
        float glint = Maths::power(facing, lamp.shine);
        float haze = Maths::exponential(-0.08f * distance);
        float light = Maths::ratio(pulse * (0.2f + glint) * haze, 1 + 0.1f * distance);
        r += light * lamp.colour[0];
        g += light * lamp.colour[1];
        b += light * lamp.colour[2];
    }
    red[i] = r;
    green[i] = g;
    blue[i] = b;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fountains");
    int drops = p.small ? 1500 : 3000000, lit = p.small ? 3 : LAMPS, block = 192;
    float time = 0.8f;
    Lamp host[LAMPS] = {
        {6, 0, -1, 1.1f, 4, {1, 0.2f, 0.1f}},        {3, 5.2f, -1, 1.7f, 7.5f, {0.1f, 1, 0.2f}},
        {-3, 5.2f, -1, 0.6f, 2.5f, {0.1f, 0.3f, 1}}, {-6, 0, -1, 2.3f, 12, {0.9f, 0.9f, 0.2f}},
        {-3, -5.2f, -1, 1.4f, 5, {0.2f, 0.9f, 1}},   {3, -5.2f, -1, 1.9f, 9, {1, 0.3f, 0.9f}},
    };
    CUDA_CHECK(cudaMemcpyToSymbol(lamps, host, sizeof host));
    std::vector<float> at[3] = {random_floats(drops, -2, 2, 1), random_floats(drops, -2, 2, 2),
                                random_floats(drops, 0, 9, 3)};
    float *d_at[3], *d_light[3];
    for (int k = 0; k < 3; k++) {
        d_at[k] = device_copy_of(at[k].data(), drops);
        d_light[k] = device_array<float>(drops);
    }
    pair_time(&p, [&] {
        light_drops<<<(drops + block - 1) / block, block>>>(d_at[0], d_at[1], d_at[2], d_light[0], d_light[1],
                                                            d_light[2], drops, lit, time);
    });
    std::vector<float> light[3];
    for (int k = 0; k < 3; k++)
        light[k] = host_copy_of(d_light[k], drops);
    for (int i = 0; i < drops; i += p.small ? 1 : 101) {
        double sum[3] = {};
        for (int l = 0; l < lit; l++) {
            const Lamp &a = host[l];
            double dx = a.x - at[0][i], dy = a.y - at[1][i], dz = a.z - at[2][i];
            double distance = sqrt(dx * dx + dy * dy + dz * dz), facing = std::max(0.05, fabs(dz) / distance);
            double pulse = 1.5 + sin((double)a.speed * time - 0.3 * distance);
            double one = pulse * (0.2 + pow(facing, a.shine)) * exp(-0.08 * distance) / (1 + 0.1 * distance);
            for (int k = 0; k < 3; k++)
                sum[k] += one * a.colour[k];
        }
        for (int k = 0; k < 3; k++)
            pair_near(&p, "light", (size_t)k * drops + i, sum[k], light[k][i], 2e-4);
    }
    return pair_end(&p);
}
