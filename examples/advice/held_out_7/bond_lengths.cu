// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: CTAs of 256 threads instead of 32.
// Why: an SM holds 32 CTAs, which are but half of its warps, and it starts CTAs one after the other.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

// How much each bond of a molecule is stretched.
__global__ void bond_lengths(const float4 *atoms, const int2 *bonds, float *stretch, float rest) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int2 bond = bonds[i];
    float4 a = atoms[bond.x], b = atoms[bond.y];
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    stretch[i] = sqrtf(x * x + y * y + z * z) - rest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bond_lengths");
    int n = p.small ? 1 << 15 : 1 << 22, count = n / 4;
    std::vector<float> at = random_floats(4 * (size_t)count, 0, 8, 1);
    std::vector<int2> bonds(n);
    unsigned seed = 2;
    for (int i = 0; i < n; i++)
        bonds[i] = make_int2(i / 4, (i / 4 + 1 + lcg_next(&seed, 64)) % count);
    float4 *d_atoms = device_copy_of((const float4 *)at.data(), count);
    int2 *d_bonds = device_copy_of(bonds.data(), n);
    float *d_stretch = device_array<float>(n);
    pair_time(&p, [&] { bond_lengths<<<n / BLOCK, BLOCK>>>(d_atoms, d_bonds, d_stretch, 1.5f); });
    std::vector<float> stretch = host_copy_of(d_stretch, n);
    for (int i = 0; i < n; i += 1009) {
        double squares = 0;
        for (int k = 0; k < 3; k++)
            squares += pow(at[4 * (size_t)bonds[i].x + k] - at[4 * (size_t)bonds[i].y + k], 2);
        pair_near(&p, "stretch", i, sqrt(squares) - 1.5, stretch[i], 1e-4);
    }
    return pair_end(&p);
}
