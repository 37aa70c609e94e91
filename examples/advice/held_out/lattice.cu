// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Also: vectorised-access
// Change: the nine populations of a cell are nine arrays (structure of arrays), no longer one structure.
// Why: lanes of a warp take cells 36 bytes apart, and each load and store touches as many sectors as lanes.
#include "../common.h"

enum { BLOCK = 128, Q = 9 };

#ifdef AFTER
#define AT(q, cell) ((size_t)(q)*cells + (cell))
#else
#define AT(q, cell) ((size_t)(cell)*Q + (q))
#endif

// One step of a lattice Boltzmann fluid (D2Q9, relaxation to equilibrium), periodic in x; rows at the walls are left
// out.
__global__ void lattice(const float *from, float *to, int width, int height, float omega) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y + 1;
    [[maybe_unused]] int cells = width * height;
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weight[Q] = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                             1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
    float f[Q], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int sx = x - cx[q];
        sx += sx < 0 ? width : sx >= width ? -width : 0;
        f[q] = from[AT(q, (y - cy[q]) * width + sx)];
        rho += f[q];
        ux += cx[q] * f[q];
        uy += cy[q] * f[q];
    }
    float scale = 1 / rho, square = (ux * ux + uy * uy) * scale * scale * 1.5f;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        float along = 3 * (cx[q] * ux + cy[q] * uy) * scale;
        float rest = weight[q] * rho * (1 + along + 0.5f * along * along - square);
        to[AT(q, y * width + x)] = f[q] + omega * (rest - f[q]);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lattice");
    int width = p.small ? 256 : 2048, height = p.small ? 66 : 1026, cells = width * height;
    std::vector<float> start = random_floats((size_t)cells * Q, 0.05f, 0.15f, 1);
    float *d_from = device_copy_of(start.data(), start.size()), *d_to = device_array<float>(start.size());
    pair_time(&p, [&] { lattice<<<dim3(width / BLOCK, height - 2), BLOCK>>>(d_from, d_to, width, height, 1.2f); });
    std::vector<float> to = host_copy_of(d_to, start.size());
    const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    for (int y = 1; y < height - 1; y += 5)
        for (int x = 0; x < width; x += 3) {  // relaxation keeps the mass of what arrives at a cell
            double in = 0, out = 0;
            for (int q = 0; q < Q; q++) {
                in += start[AT(q, (y - cy[q]) * width + (x - cx[q] + width) % width)];
                out += to[AT(q, y * width + x)];
            }
            pair_near(&p, "mass", (size_t)y * width + x, in, out, 1e-4);
        }
    return pair_end(&p);
}
