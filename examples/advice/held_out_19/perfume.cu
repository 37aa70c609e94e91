// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powers, exponentials and divisions are the fast, less exact ones.
// Why: noses do not tell the sixth digit, and the exact powers take most of the instructions.
#include "../common.h"

enum { NOTES = 6, BLOCK = 128 };

#ifdef AFTER
__device__ inline float power(float x, float y) {
    return __powf(x, y);
}
__device__ inline float exponential(float x) {
    return __expf(x);
}
__device__ inline float quotient(float x, float y) {
    return __fdividef(x, y);
}
#else
__device__ inline float power(float x, float y) {
    return powf(x, y);
}
__device__ inline float exponential(float x) {
    return expf(x);
}
__device__ inline float quotient(float x, float y) {
    return x / y;
}
#endif

struct Note {
    float a, b, c;          // vapour pressure: 10^(a - b / (c + temperature))
    float steepness, gain;  // strength of what is smelt: gain * concentration^steepness
    float fixed;            // how much the oils hold it back
};
__constant__ Note notes[NOTES];

// Blends evaporate from the skin: how strong they are over the day, and how much of it is the last (base) note.
__global__ void wear(const float *blends, const float *skins, float2 *impressions, int count, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float amount[NOTES], pressure[NOTES], skin = skins[i], strength = 0, base = 0;
#pragma unroll
    for (int k = 0; k < NOTES; k++) {
        amount[k] = blends[(size_t)k * count + i];
        pressure[k] = power(10.0f, notes[k].a - quotient(notes[k].b, notes[k].c + skin));
    }
    for (int s = 0; s < steps; s++) {
        float total = 0.05f;  // water and alcohol
#pragma unroll
        for (int k = 0; k < NOTES; k++)
            total += amount[k];
#pragma unroll
        for (int k = 0; k < NOTES; k++) {
            float share = quotient(amount[k], total);
            float vapour = pressure[k] * share * exponential(notes[k].fixed * (1 - share) * (1 - share));
            amount[k] *= exponential(-0.02f * quotient(vapour, 0.001f + amount[k]));
            float smelt = notes[k].gain * power(vapour + 1e-4f, notes[k].steepness);
            strength += smelt;
            if (k == NOTES - 1)
                base += smelt;
        }
    }
    impressions[i] = make_float2(strength / steps, base / strength);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "perfume");
    int n = p.small ? 128 : 132 * 1024, steps = p.small ? 3 : 32;
    std::vector<float> blends = random_floats((size_t)n * NOTES, 0.05f, 1, 1), skins = random_floats(n, 28, 35, 2);
    Note list[NOTES] = {{4.2f, 900, 210, 0.35f, 1.0f, -0.4f}, {4.0f, 980, 205, 0.42f, 0.8f, -0.2f},
                        {4.3f, 1150, 200, 0.50f, 1.1f, 0.1f}, {4.1f, 1200, 195, 0.45f, 0.9f, 0.2f},
                        {4.4f, 1350, 190, 0.60f, 1.2f, 0.3f}, {4.2f, 1400, 185, 0.55f, 1.0f, 0.4f}};
    CUDA_CHECK(cudaMemcpyToSymbol(notes, list, sizeof list));
    float *d_blends = device_copy_of(blends.data(), blends.size()), *d_skins = device_copy_of(skins.data(), n);
    float2 *d_impressions = device_array<float2>(n);
    pair_time(&p, [&] { wear<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_blends, d_skins, d_impressions, n, steps); });
    std::vector<float2> impressions = host_copy_of(d_impressions, n);
    for (int i = 0; i < n; i += p.small ? 3 : 211) {
        double amount[NOTES], strength = 0, base = 0;
        for (int k = 0; k < NOTES; k++)
            amount[k] = blends[(size_t)k * n + i];
        for (int s = 0; s < steps; s++) {
            double total = 0.05;
            for (int k = 0; k < NOTES; k++)
                total += amount[k];
            for (int k = 0; k < NOTES; k++) {
                double pressure = pow(10.0, list[k].a - list[k].b / ((double)list[k].c + skins[i])),
                       share = amount[k] / total,
                       vapour = pressure * share * exp(list[k].fixed * (1 - share) * (1 - share));
                amount[k] *= exp(-0.02 * vapour / (0.001 + amount[k]));
                double smelt = list[k].gain * pow(vapour + 1e-4, (double)list[k].steepness);
                strength += smelt;
                base += k == NOTES - 1 ? smelt : 0;
            }
        }
        pair_near(&p, "strength", i, strength / steps, impressions[i].x, 1e-3);
        pair_near(&p, "base", i, base / strength, impressions[i].y, 1e-3);
    }
    return pair_end(&p);
}
