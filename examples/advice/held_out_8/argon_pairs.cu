// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Also: strength-reduction
// Change: powf(s / r, 6) and powf(s / r, 12) become products of the squared quotient.
// Why: powf, which is right for any exponent, is some hundred instructions.
#include "../common.h"

enum { BLOCK = 128, NEIGHBOURS = 32 };

// The energy of each atom of a liquid by Lennard-Jones; neighbours of neighbouring atoms lie beside each other.
__global__ void argon_pairs(const float4 *atoms, const int *neighbours, float *energy, int n, float sigma) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 a = atoms[i];
    float sum = 0;
    for (int k = 0; k < NEIGHBOURS; k++) {
        float4 b = atoms[neighbours[k * n + i]];
        float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, r2 = x * x + y * y + z * z;
#ifdef AFTER
        float q2 = sigma * sigma / r2, q6 = q2 * q2 * q2;
        sum += 4 * (q6 * q6 - q6);
#else
        float q = sigma / sqrtf(r2);
        sum += 4 * (powf(q, 12) - powf(q, 6));
#endif
    }
    energy[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "argon_pairs");
    int n = p.small ? 1 << 11 : 1 << 18;
    std::vector<float4> atoms(n);
    for (int i = 0; i < n; i++)
        atoms[i] = make_float4(i % 64, i / 64 % 64, i / 4096, 0);
    std::vector<int> neighbours((size_t)NEIGHBOURS * n);
    unsigned seed = 1;
    for (int k = 0; k < NEIGHBOURS; k++)
        for (int i = 0; i < n; i++)
            neighbours[(size_t)k * n + i] = (i + 1 + lcg_next(&seed, 1000)) % n;
    float4 *d_atoms = device_copy_of(atoms.data(), n);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    float *d_energy = device_array<float>(n);
    pair_time(&p, [&] { argon_pairs<<<n / BLOCK, BLOCK>>>(d_atoms, d_neighbours, d_energy, n, 1.1f); });
    std::vector<float> energy = host_copy_of(d_energy, n);
    for (int i = 0; i < n; i += 101) {
        double sum = 0;
        for (int k = 0; k < NEIGHBOURS; k++) {
            float4 a = atoms[i], b = atoms[neighbours[(size_t)k * n + i]];
            double r2 = pow(a.x - b.x, 2) + pow(a.y - b.y, 2) + pow(a.z - b.z, 2), q2 = 1.1f * 1.1f / r2;
            sum += 4 * (pow(q2, 6) - pow(q2, 3));
        }
        pair_near(&p, "energy", i, sum, energy[i], 1e-3);
    }
    return pair_end(&p);
}
