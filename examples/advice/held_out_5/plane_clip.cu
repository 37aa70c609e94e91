// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the planes are in constant memory.
// Why: all threads read the same plane, each through the L1.
#include "../common.h"

enum { BLOCK = 256, PLANES = 64 };

#ifdef AFTER
__constant__ float4 constant_planes[PLANES];
#endif

// How far each point lies inside of a convex body, and which of its planes is nearest.
__global__ void plane_clip(const float4 *planes, const float *x, const float *y, const float *z, float *depth,
                           int *nearest, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float px = x[i], py = y[i], pz = z[i], least = 1e30f;
    int which = -1;
    for (int k = 0; k < PLANES; k++) {
#ifdef AFTER
        float4 plane = constant_planes[k];
#else
        float4 plane = planes[k];
#endif
        float d = plane.x * px + plane.y * py + plane.z * pz + plane.w;
        if (d < least)
            least = d, which = k;
    }
    depth[i] = least;
    nearest[i] = which;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plane_clip");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> x = random_floats(n, -1, 1, 1), y = random_floats(n, -1, 1, 2), z = random_floats(n, -1, 1, 3),
                       planes = random_floats(4 * PLANES, -1, 1, 4);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_z = device_copy_of(z.data(), n),
          *d_depth = device_array<float>(n);
    int *d_nearest = device_array<int>(n);
    float4 *d_planes = device_copy_of((const float4 *)planes.data(), PLANES);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(constant_planes, planes.data(), sizeof constant_planes));
#endif
    pair_time(&p, [&] { plane_clip<<<n / BLOCK, BLOCK>>>(d_planes, d_x, d_y, d_z, d_depth, d_nearest, n); });
    std::vector<float> depth = host_copy_of(d_depth, n);
    for (int i = 0; i < n; i += 1013) {
        double least = 1e30;
        for (int k = 0; k < PLANES; k++) {
            const float *q = &planes[4 * k];
            least = std::min(least, (double)q[0] * x[i] + (double)q[1] * y[i] + (double)q[2] * z[i] + q[3]);
        }
        pair_near(&p, "depth", i, least, depth[i], 1e-4);
    }
    return pair_end(&p);
}
