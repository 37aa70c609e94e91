// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the scan is stored with y as its fastest index instead of x.
// Why: the lanes of a warp differ in y, so that they read neighbouring voxels then instead of ones a row apart.
#include "../common.h"

enum { LANES = 64, SLICES = 4 };

struct Scan {
    int nx, ny, nz;
    __host__ __device__ int voxel(int x, int y, int z) const {
#ifdef AFTER
        return (z * nx + x) * ny + y;
#else
        return (z * ny + y) * nx + x;
#endif
    }
};

struct Shadow {
    unsigned peak, mass;
};

// The densest voxel and the mass on each ray along x through a tomogram.
__global__ void project(const unsigned short *density, Shadow *shadows, Scan scan) {
    int y = blockIdx.x * LANES + threadIdx.x, z = blockIdx.y * SLICES + threadIdx.y;
    if (y >= scan.ny || z >= scan.nz)
        return;
    Shadow s = {0, 0};
    for (int x = 0; x < scan.nx; x++) {
        unsigned d = density[scan.voxel(x, y, z)];
        s.peak = max(s.peak, d);
        s.mass += d;
    }
    shadows[z * scan.ny + y] = s;
}

static unsigned short density_at(int x, int y, int z) {
    unsigned h = x * 73856093u ^ y * 19349663u ^ z * 83492791u;
    h = (h ^ h >> 15) * 2654435761u;
    return (unsigned short)(h >> 18);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "walnuts");
    Scan scan = {420, 400, 360};
    if (p.small)
        scan = {36, 70, 20};
    size_t voxels = (size_t)scan.nx * scan.ny * scan.nz;
    std::vector<unsigned short> density(voxels);
    for (int z = 0; z < scan.nz; z++)
        for (int y = 0; y < scan.ny; y++)
            for (int x = 0; x < scan.nx; x++)
                density[scan.voxel(x, y, z)] = density_at(x, y, z);
    unsigned short *d_density = device_copy_of(density.data(), voxels);
    int rays = scan.ny * scan.nz;
    Shadow *d_shadows = device_array<Shadow>(rays);
    dim3 grid((scan.ny + LANES - 1) / LANES, (scan.nz + SLICES - 1) / SLICES), block(LANES, SLICES);
    pair_time(&p, [&] { project<<<grid, block>>>(d_density, d_shadows, scan); });
    std::vector<Shadow> shadows = host_copy_of(d_shadows, rays);
    for (int ray = 0; ray < rays; ray += 37) {
        Shadow s = {0, 0};
        for (int x = 0; x < scan.nx; x++) {
            unsigned d = density_at(x, ray % scan.ny, ray / scan.ny);
            s.peak = std::max(s.peak, d);
            s.mass += d;
        }
        pair_near(&p, "peak", ray, s.peak, shadows[ray].peak, 0);
        pair_near(&p, "mass", ray, s.mass, shadows[ray].mass, 0);
    }
    return pair_end(&p);
}
