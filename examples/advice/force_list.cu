// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Lines: 31-33
// Change: the atom's own position and charge are read into registers ahead of the loop over its neighbours.
// Why: the force is stored in the loop, and might be stored over them: the compiler has to load them again in every
// turn.
#include "common.h"

enum { BLOCK = 128 };

struct Atoms {
    float *x, *y, *z, *charge, *fx, *fy, *fz;
};

// Forces from a neighbour list stored neighbour by neighbour (molecular dynamics, SHOC's md).
__global__ void force_list(Atoms a, const int *neighbours, int count, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
#ifdef AFTER
    float px = a.x[i], py = a.y[i], pz = a.z[i], charge = a.charge[i];
#else
#define px a.x[i]
#define py a.y[i]
#define pz a.z[i]
#define charge a.charge[i]
#endif
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < count; k++) {
        int j = neighbours[(size_t)k * n + i];
        float dx = px - a.x[j], dy = py - a.y[j], dz = pz - a.z[j];
        float r2 = 1.0f / (dx * dx + dy * dy + dz * dz + 0.01f), pull = charge * r2 * (r2 - 0.5f);
        fx += dx * pull;
        fy += dy * pull;
        fz += dz * pull;
        a.fx[i] = fx;
        a.fy[i] = fy;
        a.fz[i] = fz;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "force_list");
    int n = p.small ? 132 * 512 : 1 << 18, count = p.small ? 12 : 48;
    std::vector<float> v[4];
    for (int d = 0; d < 4; d++)
        v[d] = random_floats(n, 0, 1, d + 1);
    std::vector<int> neighbours((size_t)count * n);
    unsigned seed = 5;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            neighbours[(size_t)k * n + i] = (i + 1 + (int)lcg_next(&seed, 512)) % n;
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    Atoms a = {device_copy_of(v[0].data(), n), device_copy_of(v[1].data(), n), device_copy_of(v[2].data(), n),
               device_copy_of(v[3].data(), n), device_array<float>(n),         device_array<float>(n),
               device_array<float>(n)};
    pair_time(&p, [&] { force_list<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(a, d_neighbours, count, n); });
    std::vector<float> fx = host_copy_of(a.fx, n);
    for (int i = 0; i < n; i += 29) {
        double sum = 0, scale = 0;
        for (int k = 0; k < count; k++) {
            int j = neighbours[(size_t)k * n + i];
            double d[3];
            for (int c = 0; c < 3; c++)
                d[c] = (double)v[c][i] - v[c][j];
            double r2 = 1 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01), pull = v[3][i] * r2 * (r2 - 0.5);
            sum += d[0] * pull;
            scale += fabs(d[0] * pull);
        }
        pair_near(&p, "force", i, 0, (sum - fx[i]) / (scale + 1e-9), 1e-3);
    }
    return pair_end(&p);
}
