// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the radius of the neighbourhood is a constant, so that the three loops over it are unrolled.
// Why: loops of three steps each are mostly counting, comparing and addressing, and each load waits for the one before.
#include "../common.h"

enum { RADIUS = 1 };

__constant__ float nearness[3 * RADIUS + 1];

// Smooths a CT scan of a coral: neighbours count by their distance and the less the more their density differs.
__global__ void smooth_scan(const float *scan, float *smooth, int nx, int ny, int nz, int radius) {
#ifdef AFTER
    const int r = RADIUS;
#else
    const int r = radius;
#endif
    int x = blockIdx.x * blockDim.x + threadIdx.x + r;
    int y = blockIdx.y * blockDim.y + threadIdx.y + r;
    int z = blockIdx.z * blockDim.z + threadIdx.z + r;
    if (x >= nx - r || y >= ny - r || z >= nz - r)
        return;
    float here = scan[(z * ny + y) * nx + x], sum = 0, weights = 0;
    for (int dz = -r; dz <= r; dz++)
        for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
                float there = scan[((z + dz) * ny + y + dy) * nx + x + dx];
                float weight = nearness[abs(dx) + abs(dy) + abs(dz)] * fmaxf(0.0f, 1.0f - fabsf(there - here));
                sum += weight * there;
                weights += weight;
            }
    smooth[(z * ny + y) * nx + x] = sum / weights;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "corals");
    int nx = p.small ? 40 : 330, ny = p.small ? 23 : 270, nz = p.small ? 11 : 150, radius = RADIUS;
    std::vector<float> scan = random_floats((size_t)nx * ny * nz, 0.8f, 2.2f, 9);
    float near_by[3 * RADIUS + 1] = {1, 0.6f, 0.35f, 0.2f};
    CUDA_CHECK(cudaMemcpyToSymbol(nearness, near_by, sizeof near_by));
    float *d_scan = device_copy_of(scan.data(), scan.size()), *d_smooth = device_array<float>(scan.size());
    dim3 block(32, 4, 2);
    dim3 grid((nx - 2 * radius + 31) / 32, (ny - 2 * radius + 3) / 4, (nz - 2 * radius + 1) / 2);
    pair_time(&p, [&] { smooth_scan<<<grid, block>>>(d_scan, d_smooth, nx, ny, nz, radius); });
    std::vector<float> smooth = host_copy_of(d_smooth, scan.size());
    for (int i = 0; i < nx * ny * nz; i += 37) {
        int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        if (x < radius || y < radius || z < radius || x >= nx - radius || y >= ny - radius || z >= nz - radius)
            continue;
        double sum = 0, weights = 0;
        for (int dz = -radius; dz <= radius; dz++)
            for (int dy = -radius; dy <= radius; dy++)
                for (int dx = -radius; dx <= radius; dx++) {
                    double there = scan[((z + dz) * ny + y + dy) * nx + x + dx];
                    double weight = near_by[abs(dx) + abs(dy) + abs(dz)] * std::max(0.0, 1 - fabs(there - scan[i]));
                    sum += weight * there;
                    weights += weight;
                }
        pair_near(&p, "smooth", i, sum / weights, smooth[i], 1e-4);
    }
    return pair_end(&p);
}
