// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: neighbouring threads take neighbours in depth, along which the scan is stored, not across it.
// Why: the scanner writes all depths of a point one after the other; lanes that differ in x are far apart in memory.
#include "../common.h"

struct Volume {
    int width, height, depth;
    __host__ __device__ size_t at(int x, int y, int z) const { return ((size_t)x * height + y) * depth + z; }
};

// How dense the bone is at each point, calibrated, and how steeply it changes there.
__global__ void density(const short *scan, Volume v, float slope, float offset, float *mineral, float *steepness) {
#ifdef AFTER
    int z = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.z;
#else
    int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.z;
#endif
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= v.width || y >= v.height || z >= v.depth)
        return;
    size_t at = v.at(x, y, z);
    float here = slope * scan[at] + offset;
    int left = max(x - 1, 0), right = min(x + 1, v.width - 1), up = max(y - 1, 0), down = min(y + 1, v.height - 1),
        above = max(z - 1, 0), below = min(z + 1, v.depth - 1);
    float dx = scan[v.at(right, y, z)] - scan[v.at(left, y, z)];
    float dy = scan[v.at(x, down, z)] - scan[v.at(x, up, z)];
    float dz = scan[v.at(x, y, below)] - scan[v.at(x, y, above)];
    mineral[at] = here > 0 ? here : 0;
    steepness[at] = 0.5f * slope * sqrtf(dx * dx + dy * dy + dz * dz);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bone_density");
    Volume v = p.small ? Volume{40, 24, 40} : Volume{320, 256, 320};
    size_t n = (size_t)v.width * v.height * v.depth;
    std::vector<short> scan(n);
    lcg_fill(scan.data(), n, 1, 3000);
    short *d_scan = device_copy_of(scan.data(), n);
    float *d_mineral = device_array<float>(n), *d_steep = device_array<float>(n);
    dim3 block(32, 8);
#ifdef AFTER
    dim3 grid((v.depth + 31) / 32, v.height / 8, v.width);
#else
    dim3 grid((v.width + 31) / 32, v.height / 8, v.depth);
#endif
    pair_time(&p, [&] { density<<<grid, block>>>(d_scan, v, 0.75f, -300.0f, d_mineral, d_steep); });
    std::vector<float> mineral = host_copy_of(d_mineral, n), steep = host_copy_of(d_steep, n);
    for (size_t i = 0; i < n; i += p.small ? 7 : 997) {
        int z = (int)(i % v.depth), y = (int)(i / v.depth % v.height), x = (int)(i / v.depth / v.height);
        double dx = scan[v.at(std::min(x + 1, v.width - 1), y, z)] - scan[v.at(std::max(x - 1, 0), y, z)],
               dy = scan[v.at(x, std::min(y + 1, v.height - 1), z)] - scan[v.at(x, std::max(y - 1, 0), z)],
               dz = scan[v.at(x, y, std::min(z + 1, v.depth - 1))] - scan[v.at(x, y, std::max(z - 1, 0))];
        pair_near(&p, "mineral", i, std::max(0.75 * scan[i] - 300, 0.0), mineral[i], 1e-5);
        pair_near(&p, "steepness", i, 0.375 * sqrt(dx * dx + dy * dy + dz * dz), steep[i], 1e-5);
    }
    return pair_end(&p);
}
