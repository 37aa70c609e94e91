// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the fourth power of a temperature is two multiplications instead of a call of powf.
// Why: powf works out a logarithm and an exponential with much care, six times a step; all the rest of it is small.
#include "../common.h"

enum { BLOCK = 256, FACES = 6, MAX_STEPS = 256 };

struct Design {
    float absorptivity, emissivity, conductance, watts;
};

struct Extremes {
    float coldest, hottest;
};

__constant__ float sunlight[MAX_STEPS * FACES];  // W on each face along the orbit, the Earth's included

static __device__ float fourth_power(float t) {
#ifdef AFTER
    float square = t * t;
    return square * square;
#else
    return powf(t, 4.0f);
#endif
}

// The temperatures (in 100 K) of a small satellite's faces and of its electronics along an orbit, for many coatings.
__global__ void orbit(const Design *designs, Extremes *extremes, int count, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Design d = designs[i];
    float face[FACES], core = 2.9f, coldest = 2.9f, hottest = 2.9f;
#pragma unroll
    for (int f = 0; f < FACES; f++)
        face[f] = 2.7f;
    for (int s = 0; s < steps; s++) {
        float into_core = d.watts;
#pragma unroll
        for (int f = 0; f < FACES; f++) {
            float conducted = d.conductance * (core - face[f]);
            float radiated = d.emissivity * 0.0567f * fourth_power(face[f]);
            face[f] += 0.05f * (d.absorptivity * sunlight[s * FACES + f] - radiated + conducted);
            into_core -= conducted;
        }
        core += 0.01f * into_core;
        coldest = fminf(coldest, core);
        hottest = fmaxf(hottest, core);
    }
    extremes[i] = {coldest, hottest};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cubesat");
    int count = p.small ? 512 : 300000, steps = p.small ? 24 : 192;
    std::vector<Design> designs(count);
    unsigned seed = 1;
    for (Design &d : designs)
        d = {0.2f + 0.006f * lcg_next(&seed, 100), 0.1f + 0.008f * lcg_next(&seed, 100),
             0.1f + 0.01f * lcg_next(&seed, 100), 0.2f + 0.02f * lcg_next(&seed, 100)};
    std::vector<float> sun(MAX_STEPS * FACES);
    for (int s = 0; s < steps; s++)
        for (int f = 0; f < FACES; f++) {
            double angle = 2 * M_PI * s / steps - f * M_PI / 3;
            bool shadow = s > steps * 5 / 8;
            sun[s * FACES + f] = 0.6f + (shadow ? 0 : (float)(13.6 * std::max(0.0, cos(angle))));
        }
    CUDA_CHECK(cudaMemcpyToSymbol(sunlight, sun.data(), sizeof sunlight));
    Design *d_designs = device_copy_of(designs.data(), count);
    Extremes *d_extremes = device_array<Extremes>(count);
    pair_time(&p, [&] { orbit<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_designs, d_extremes, count, steps); });
    std::vector<Extremes> extremes = host_copy_of(d_extremes, count);
    for (int i = 0; i < count; i += 31) {
        Design d = designs[i];
        double face[FACES] = {2.7, 2.7, 2.7, 2.7, 2.7, 2.7}, core = 2.9, coldest = 2.9, hottest = 2.9;
        for (int s = 0; s < steps; s++) {
            double into_core = d.watts;
            for (int f = 0; f < FACES; f++) {
                double conducted = d.conductance * (core - face[f]);
                face[f] += 0.05 * (d.absorptivity * sun[s * FACES + f] -
                                   d.emissivity * 0.0567 * face[f] * face[f] * face[f] * face[f] + conducted);
                into_core -= conducted;
            }
            core += 0.01 * into_core;
            coldest = std::min(coldest, core);
            hottest = std::max(hottest, core);
        }
        pair_near(&p, "coldest", i, coldest, extremes[i].coldest, 1e-4);
        pair_near(&p, "hottest", i, hottest, extremes[i].hottest, 1e-4);
    }
    return pair_end(&p);
}
