// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: blocks have 256 threads instead of 1024, and there are four times as many.
// Why: an SM holds one block, so the last 8 of 140 blocks keep 8 of 132 SMs busy while the others are done.
#include "../common.h"

enum { PLANES = 32, WIDTH = 512, MAX_ATOMS = 64 };

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 1024 };
#endif

// Where an atom is, how blurred, and how many electrons it has.
struct Atom {
    float x, y, z, blur, electrons;
};
__constant__ Atom d_atoms[MAX_ATOMS];

// Electron density of a molecule in a crystal; each thread computes a column of points.
__global__ void __launch_bounds__(BLOCK) electron_density(float *density, float step, int atoms) {
    int i = blockIdx.x * BLOCK + threadIdx.x, columns = gridDim.x * BLOCK;
    float x = step * (float)(i % WIDTH), y = step * (float)(i / WIDTH), sums[PLANES] = {0};
    for (int a = 0; a < atoms; a++) {
        Atom atom = d_atoms[a];
        float across = (x - atom.x) * (x - atom.x) + (y - atom.y) * (y - atom.y);
#pragma unroll
        for (int plane = 0; plane < PLANES; plane++) {
            float dz = step * (float)plane - atom.z;
            sums[plane] += atom.electrons * __expf(-atom.blur * (dz * dz + across));
        }
    }
#pragma unroll
    for (int plane = 0; plane < PLANES; plane++)
        density[plane * columns + i] = sums[plane];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crystal");
    int blocks = (p.small ? 2 : 140) * (1024 / BLOCK), columns = blocks * BLOCK, atoms = p.small ? 2 : MAX_ATOMS;
    float step = 0.1f, depth = step * (float)(columns / WIDTH);
    std::vector<float> numbers = random_floats(atoms * 5, 0, 1, 1);
    std::vector<Atom> list(atoms);
    for (int a = 0; a < atoms; a++) {
        const float *at = &numbers[a * 5];
        list[a] = {step * WIDTH * at[0], depth * at[1], step * PLANES * at[2], 0.1f + 0.2f * at[3], 1 + 7 * at[4]};
    }
    float *d_density = device_array<float>((size_t)columns * PLANES);
    CUDA_CHECK(cudaMemcpyToSymbol(d_atoms, list.data(), atoms * sizeof(Atom)));
    pair_time(&p, [&] { electron_density<<<blocks, BLOCK>>>(d_density, step, atoms); });
    std::vector<float> density = host_copy_of(d_density, (size_t)columns * PLANES);
    for (int i = 0; i < columns * PLANES; i += 1237) {
        double sum = 0;
        for (const Atom &atom : list) {
            double x = (double)step * (i % columns % WIDTH) - atom.x, y = (double)step * (i % columns / WIDTH) - atom.y,
                   z = (double)step * (i / columns) - atom.z;
            sum += atom.electrons * exp(-atom.blur * (x * x + y * y + z * z));
        }
        pair_near(&p, "density", i, sum, density[i], 2e-4);
    }
    return pair_end(&p);
}
