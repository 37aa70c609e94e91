// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 64 threads instead of 512, and so eight times as many blocks.
// Why: 32 blocks use 32 of 132 SMs.
#include "common.h"

#ifdef AFTER
enum { BLOCK = 64 };
#else
enum { BLOCK = 512 };
#endif

// A stiff chain of three species (Robertson's, scaled) in every cell, by many small explicit steps with an Arrhenius
// rate.
__global__ void reaction(const float *heat, float *out, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float a = 1, b = 0, c = 0, temperature = heat[i];
    for (int s = 0; s < steps; s++) {
        float r1 = 4.0f * expf(-1.0f / temperature) * a, r2 = 9.0f * expf(-2.0f / temperature) * b * c,
              r3 = 3.0f * expf(-1.5f / temperature) * b * b;
        a += 1e-3f * (r2 - r1);
        b += 1e-3f * (r1 - r2 - r3);
        c += 1e-3f * r3;
        temperature += 1e-4f * (r1 + r3);
    }
    out[i] = c;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reaction");
    int cells = 32 * 512, steps = p.small ? 40 : 2000;
    std::vector<float> heat = random_floats(cells, 0.5f, 2, 1);
    float *d_heat = device_copy_of(heat.data(), cells), *d_out = device_array<float>(cells);
    pair_time(&p, [&] { reaction<<<cells / BLOCK, BLOCK>>>(d_heat, d_out, steps); });
    std::vector<float> out = host_copy_of(d_out, cells);
    for (int i = 0; i < cells; i += cells / 61) {
        double a = 1, b = 0, c = 0, t = heat[i];
        for (int s = 0; s < steps; s++) {
            double r1 = 4 * exp(-1 / t) * a, r2 = 9 * exp(-2 / t) * b * c, r3 = 3 * exp(-1.5 / t) * b * b;
            a += 1e-3 * (r2 - r1);
            b += 1e-3 * (r1 - r2 - r3);
            c += 1e-3 * r3;
            t += 1e-4 * (r1 + r3);
        }
        pair_near(&p, "out", i, c, out[i], 1e-3);
    }
    return pair_end(&p);
}
