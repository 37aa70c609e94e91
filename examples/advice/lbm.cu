// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the factors of the equilibrium, 1.0, 3.0, 4.5 and 1.5, become floats.
// Why: they are doubles, so each of nine directions is converted, computed in double, and converted back.
#include "common.h"

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

enum { DIRECTIONS = 9, BLOCK = 128 };

// One step of a D2Q9 lattice Boltzmann method: pull from the neighbours, relax towards equilibrium. Periodic edges.
__global__ void lbm(const float *from, float *to, int width, int height, float omega) {
    const int cx[DIRECTIONS] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[DIRECTIONS] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weight[DIRECTIONS] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                      1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    size_t cells = (size_t)width * height;
    float f[DIRECTIONS], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int d = 0; d < DIRECTIONS; d++) {
        int sx = x - cx[d], sy = y - cy[d];
        sx += sx < 0 ? width : sx >= width ? -width : 0;
        sy += sy < 0 ? height : sy >= height ? -height : 0;
        f[d] = from[d * cells + (size_t)sy * width + sx];
        density += f[d];
        ux += cx[d] * f[d];
        uy += cy[d] * f[d];
    }
    ux /= density;
    uy /= density;
#pragma unroll
    for (int d = 0; d < DIRECTIONS; d++) {
        float cu = cx[d] * ux + cy[d] * uy;
        float equilibrium =
            weight[d] * density * (C(1.0) + C(3.0) * cu + C(4.5) * cu * cu - C(1.5) * (ux * ux + uy * uy));
        to[d * cells + (size_t)y * width + x] = f[d] + omega * (equilibrium - f[d]);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lbm");
    int width = p.small ? 512 : 2048, height = p.small ? 320 : 2048;
    size_t cells = (size_t)width * height;
    std::vector<float> from = random_floats(DIRECTIONS * cells, 0.5f, 1.5f, 1);
    float *d_from = device_copy_of(from.data(), from.size()), *d_to = device_array<float>(from.size());
    pair_time(&p, [&] { lbm<<<dim3(width / BLOCK, height), BLOCK>>>(d_from, d_to, width, height, 0.8f); });
    std::vector<float> to = host_copy_of(d_to, from.size());
    double before = 0, after = 0;  // the collision keeps mass
    for (size_t i = 0; i < from.size(); i++) {
        before += from[i];
        after += to[i];
    }
    pair_near(&p, "mass", 0, 1, after / before, 1e-5);
    for (int y = 1; y < height - 1; y += 31)
        for (int x = 1; x < width - 1; x += 29) {
            const int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
            double f[DIRECTIONS], density = 0, ux = 0, uy = 0;
            for (int d = 0; d < DIRECTIONS; d++) {
                f[d] = from[d * cells + (size_t)(y - cy[d]) * width + x - cx[d]];
                density += f[d];
                ux += cx[d] * f[d];
                uy += cy[d] * f[d];
            }
            ux /= density;
            uy /= density;
            double cu = ux, equilibrium = density / 9 * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
            pair_near(&p, "to", y * width + x, f[1] + 0.8 * (equilibrium - f[1]), to[cells + (size_t)y * width + x],
                      1e-4);
        }
    return pair_end(&p);
}
