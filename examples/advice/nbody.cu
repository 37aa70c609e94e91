// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the bodies of a tile is unrolled sixteen times.
// Why: counter, comparison, branch and address arithmetic go with every interaction, and one must end before the next
// starts.
#include "common.h"

enum { TILE = 256 };

// Forces of the first `sources` bodies on all.
__global__ void nbody(const float4 *bodies, float4 *forces, int sources) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = bodies[i];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < sources; first += TILE) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
#ifdef AFTER
#pragma unroll 16
#else
#pragma unroll 1
#endif
        for (int j = 0; j < TILE; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-2f);
            float pull = tile[j].w * inverse * inverse * inverse;
            x += dx * pull;
            y += dy * pull;
            z += dz * pull;
        }
        __syncthreads();
    }
    forces[i] = make_float4(x, y, z, 0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nbody");
    int n = 132 * (p.small ? 1 : 2) * TILE, sources = p.small ? TILE : n;
    std::vector<float> b = random_floats(4 * n, 0, 1, 1);
    float4 *d_bodies = (float4 *)device_copy_of(b.data(), b.size()), *d_forces = device_array<float4>(n);
    pair_time(&p, [&] { nbody<<<n / TILE, TILE>>>(d_bodies, d_forces, sources); });
    std::vector<float4> forces = host_copy_of(d_forces, n);
    for (int i = 0; i < n; i += n / 17) {
        double x = 0, scale = 0;
        for (int j = 0; j < sources; j++) {
            double dx = b[4 * j] - b[4 * i], dy = b[4 * j + 1] - b[4 * i + 1], dz = b[4 * j + 2] - b[4 * i + 2];
            double pull = b[4 * j + 3] * pow(dx * dx + dy * dy + dz * dz + 1e-2, -1.5);
            x += dx * pull;
            scale += fabs(dx * pull);
        }
        pair_near(&p, "force", i, x / scale, forces[i].x / scale, 1e-3);
    }
    return pair_end(&p);
}
