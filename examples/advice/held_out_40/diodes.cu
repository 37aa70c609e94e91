// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the integrand is handed to the quadrature as a function object instead of a pointer to a function.
// Why: a function behind a pointer cannot be inlined; the call, its arguments and the wait for its result are as much
//      as the integrand itself, and the points of the quadrature can no longer be worked on side by side.
#include "../common.h"

enum { BLOCK = 128 };

// A junction: the Fermi level relative to the band edge and the thermal energy, in eV, and how the band bends.
struct Junction {
    float level, thermal, bend;
};

// Carriers per energy above the edge of a band that is not quite parabolic.
__device__ float carriers(float energy, Junction j) {
    float states = sqrtf(energy * (1 + j.bend * energy)) * (1 + 2 * j.bend * energy);
    return __fdividef(states, 1 + __expf(__fdividef(energy - j.level, j.thermal)));
}

#ifdef AFTER
struct Integrand {
    __device__ float operator()(float energy, Junction j) const { return carriers(energy, j); }
};
#else
typedef float (*Integrand)(float, Junction);
__device__ Integrand carriers_pointer = carriers;
#endif

// Simpson's rule on 2 * halves intervals.
__device__ static inline float simpson(Integrand f, float from, float to, int halves, const Junction &j) {
    float width = (to - from) / (2 * halves), odd = 0, even = 0;
    for (int i = 0; i < halves; i++) {
        float at = from + 2 * i * width;
        even += f(at, j);
        odd += f(at + width, j);
    }
    return width / 3 * (4 * odd + 2 * even + f(to, j) - f(from, j));
}

// The density of carriers at every point of the device, up to `reach` above the edge or the level.
__global__ void __launch_bounds__(BLOCK)
    density(const Junction *junctions, float *out, int count, int halves, float reach, Integrand f) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Junction j = junctions[i];
    float top = fmaxf(j.level, 0.f) + reach * j.thermal;
    out[i] = simpson(f, 0.f, top, halves, j);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "diodes");
    int count = p.small ? 1000 : 132 * 2048 * 2, halves = p.small ? 16 : 64;
    float reach = 16;
    std::vector<float> r = random_floats((size_t)count * 3, 0, 1, 6);
    std::vector<Junction> junctions(count);
    for (int i = 0; i < count; i++)
        junctions[i] = {0.4f * r[3 * i] - 0.05f, 0.015f + 0.03f * r[3 * i + 1], 0.8f * r[3 * i + 2]};
    Junction *d_junctions = device_copy_of(junctions.data(), count);
    float *d_out = device_array<float>(count);
    Integrand f;
#ifndef AFTER
    CUDA_CHECK(cudaMemcpyFromSymbol(&f, carriers_pointer, sizeof f));
#endif
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { density<<<blocks, BLOCK>>>(d_junctions, d_out, count, halves, reach, f); });
    std::vector<float> out = host_copy_of(d_out, count);
    for (int i = 0; i < count; i += p.small ? 1 : 97) {
        Junction j = junctions[i];
        double top = fmax(j.level, 0.) + (double)reach * j.thermal, width = top / (2 * halves), sum = 0;
        for (int k = 0; k <= 2 * halves; k++) {
            double energy = k * width, states = sqrt(energy * (1 + j.bend * energy)) * (1 + 2 * j.bend * energy);
            sum += (k == 0 || k == 2 * halves ? 1 : k % 2 ? 4 : 2) * states / (1 + exp((energy - j.level) / j.thermal));
        }
        pair_near(&p, "density", i, sum * width / 3, out[i], 1e-4);
    }
    return pair_end(&p);
}
