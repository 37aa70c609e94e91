// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: points are processed sorted by material.
// Why: the lanes of a warp then take one branch of the material model instead of all four after each other.
#include "common.h"

enum { BLOCK = 256, MATERIALS = 4 };

// Stress of one point under repeated strain: elastic, hardening, viscous, damaged.
template <typename Real> static __host__ __device__ Real stress_of(int material, Real strain, int steps) {
    Real stress = 0, state = 0;
    switch (material) {
    case 0:
        for (int s = 0; s < steps; s++)
            stress = (Real)0.9 * stress + (Real)2.0 * strain - (Real)0.1 * stress * strain;
        return stress;
    case 1:
        for (int s = 0; s < steps; s++) {
            stress += strain * (Real)0.5;
            Real yield = (Real)0.4 + (Real)0.2 * sqrt(state + (Real)0.01);
            Real over = fabs(stress) - yield;
            if (over > 0) {
                state += (Real)0.3 * over;
                stress -= (stress > 0 ? (Real)0.8 : (Real)-0.8) * over;
            }
        }
        return stress;
    case 2:
        for (int s = 0; s < steps; s++) {
            state += (Real)0.05 * (stress - state);
            stress = strain - (Real)0.3 * state / ((Real)1.0 + state * state);
        }
        return stress;
    default:
        for (int s = 0; s < steps; s++) {
            state = fmax(state, fabs(strain) * (Real)0.1 * (Real)s);
            stress = strain * exp(-state) + (Real)0.1 * stress;
        }
        return stress;
    }
}

__global__ void materials(const int *material, const float *strain, float *stress, int n, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        stress[i] = stress_of<float>(material[i], strain[i], steps);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "materials");
    int n = p.small ? 132 * 1024 : 1 << 21, steps = p.small ? 10 : 40;
    std::vector<int> material(n);
    lcg_fill(material.data(), n, 1, MATERIALS);
#ifdef AFTER
    std::sort(material.begin(), material.end());
#endif
    std::vector<float> strain = random_floats(n, -1, 1, 2);
    int *d_material = device_copy_of(material.data(), n);
    float *d_strain = device_copy_of(strain.data(), n), *d_stress = device_array<float>(n);
    pair_time(&p, [&] { materials<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_material, d_strain, d_stress, n, steps); });
    std::vector<float> stress = host_copy_of(d_stress, n);
    for (int i = 0; i < n; i += 37)
        pair_near(&p, "stress", i, stress_of<double>(material[i], strain[i], steps), stress[i], 1e-3);
    return pair_end(&p);
}
