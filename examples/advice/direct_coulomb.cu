// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: memory-transactions
// Change: an atom's four numbers are read as one float4 instead of four floats.
// Why: the compiler cannot know that they are aligned, so it issues four loads where one of sixteen bytes would do.
#include "common.h"

enum { BLOCK = 128, PLANES = 4 };

// Electrostatic potential at PLANES heights above each point of a grid (Parboil's cutcp without the cut-off).
__global__ void coulomb(const float *__restrict__ atoms, float *__restrict__ potential, int width, int count,
                        float spacing) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    float px = x * spacing, py = y * spacing, sum[PLANES] = {};
    for (int i = 0; i < count; i++) {
#ifdef AFTER
        float4 a = ((const float4 *)atoms)[i];
#else
        float4 a = make_float4(atoms[4 * i], atoms[4 * i + 1], atoms[4 * i + 2], atoms[4 * i + 3]);
#endif
        float dx = px - a.x, dy = py - a.y, r2 = dx * dx + dy * dy;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
            sum[k] += a.w * rsqrtf(r2 + (a.z + k) * (a.z + k));
    }
#pragma unroll
    for (int k = 0; k < PLANES; k++)
        potential[((size_t)k * gridDim.y + y) * width + x] = sum[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "direct_coulomb");
    int width = p.small ? 512 : 1024, height = p.small ? 132 : 264, count = p.small ? 64 : 2000;
    std::vector<float> atoms = random_floats(4 * count, 0.1f, 1, 1);
    float *d_atoms = device_copy_of(atoms.data(), atoms.size()),
          *d_potential = device_array<float>((size_t)PLANES * width * height);
    float spacing = 1.0f / width;
    pair_time(&p,
              [&] { coulomb<<<dim3(width / BLOCK, height), BLOCK>>>(d_atoms, d_potential, width, count, spacing); });
    std::vector<float> potential = host_copy_of(d_potential, (size_t)PLANES * width * height);
    for (int k = 0; k < PLANES; k++)
        for (int y = 0; y < height; y += 19)
            for (int x = 0; x < width; x += 23) {
                double sum = 0;
                for (int i = 0; i < count; i++)
                    sum +=
                        atoms[4 * i + 3] / sqrt(pow(x * spacing - atoms[4 * i], 2) +
                                                pow(y * spacing - atoms[4 * i + 1], 2) + pow(atoms[4 * i + 2] + k, 2));
                size_t at = ((size_t)k * height + y) * width + x;
                pair_near(&p, "potential", at, sum, potential[at], 1e-4);
            }
    return pair_end(&p);
}
