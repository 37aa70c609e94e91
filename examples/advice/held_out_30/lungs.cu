// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the lanes of a warp go along x instead of along z.
// Why: voxels that are neighbours along x are neighbours in memory, those along z are a whole slice apart.
#include "../common.h"

enum { LANES = 32, LINES = 4 };

struct Scan {
    int side, height;  // voxels: side along x and z, height along y
    float spacing;     // mm
};

// How steeply the density changes at each voxel of a chest scan: where the walls of the airways are.
__global__ void lungs(const float *density, float *edge, Scan scan) {
    int across = blockIdx.x * LANES + threadIdx.x;
    int y = blockIdx.y * LINES + threadIdx.y;
    int along = blockIdx.z;
#ifdef AFTER
    int x = across, z = along;
#else
    int x = along, z = across;
#endif
    if (across >= scan.side || y >= scan.height)
        return;
    size_t row = scan.side, slice = row * scan.height;
    size_t here = z * slice + y * row + x;
    bool inside = x > 0 && x < scan.side - 1 && y > 0 && y < scan.height - 1 && z > 0 && z < scan.side - 1;
    float value = 0;
    if (inside) {
        float gx = density[here + 1] - density[here - 1];
        float gy = density[here + row] - density[here - row];
        float gz = density[here + slice] - density[here - slice];
        value = sqrtf(gx * gx + gy * gy + gz * gz) / (2 * scan.spacing);
    }
    edge[here] = value;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lungs");
    Scan scan = {p.small ? 40 : 276, p.small ? 18 : 210, 0.7f};
    size_t row = scan.side, slice = row * scan.height, n = slice * scan.side;
    std::vector<float> density = random_floats(n, -1000, 400, 3);
    float *d_density = device_copy_of(density.data(), n), *d_edge = device_array<float>(n);
    dim3 grid((scan.side + LANES - 1) / LANES, (scan.height + LINES - 1) / LINES, scan.side);
    pair_time(&p, [&] { lungs<<<grid, dim3(LANES, LINES)>>>(d_density, d_edge, scan); });
    std::vector<float> edge = host_copy_of(d_edge, n);
    for (size_t i = 0; i < n; i += 67) {
        int x = (int)(i % row), y = (int)(i / row % scan.height), z = (int)(i / slice);
        double expected = 0;
        if (x > 0 && x < scan.side - 1 && y > 0 && y < scan.height - 1 && z > 0 && z < scan.side - 1) {
            double gx = density[i + 1] - density[i - 1], gy = density[i + row] - density[i - row];
            double gz = density[i + slice] - density[i - slice];
            expected = sqrt(gx * gx + gy * gy + gz * gz) / (2 * scan.spacing);
        }
        pair_near(&p, "edge", i, expected, edge[i], 1e-5);
    }
    return pair_end(&p);
}
