// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: x, which differs between the threads of a warp, is the index that runs fastest in memory, not z.
// Why: neighbouring threads used values a whole slice (height * depth) apart: each access of a warp took 32 sectors.
#include "../common.h"

struct Room {
    int width, height, depth;
    __host__ __device__ size_t cells() const { return (size_t)width * height * depth; }
    __host__ __device__ size_t at(int x, int y, int z) const {
#ifdef AFTER
        return ((size_t)z * height + y) * width + x;
#else
        return ((size_t)x * height + y) * depth + z;
#endif
    }
};

// One step of the heat in an oven full of bread: it flows between cells as they conduct; the walls stay as they are.
template <typename Real>
__global__ void bake(const Real *heat, const Real *conducts, const unsigned char *burner, Real *next, Room room,
                     Real power) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= room.width || y >= room.height || z >= room.depth)
        return;
    size_t here = room.at(x, y, z);
    Real own = heat[here];
    bool wall = x == 0 || y == 0 || z == 0 || x == room.width - 1 || y == room.height - 1 || z == room.depth - 1;
    if (!wall) {
        Real around = heat[room.at(x - 1, y, z)] + heat[room.at(x + 1, y, z)] + heat[room.at(x, y - 1, z)] +
                      heat[room.at(x, y + 1, z)] + heat[room.at(x, y, z - 1)] + heat[room.at(x, y, z + 1)];
        own += conducts[here] * (around - 6 * own) + power * burner[here];
    }
    next[here] = own;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ovens");
    Room room = {224, 160, 192};
    if (p.small)
        room = {32, 12, 20};
    size_t n = room.cells();
    std::vector<double> heat(n), conducts(n);
    std::vector<unsigned char> burner(n);
    unsigned seed = 5;
    for (size_t i = 0; i < n; i++) {
        heat[i] = 20 + 0.25 * lcg_next(&seed, 800);
        conducts[i] = 0.02 + 0.001 * lcg_next(&seed, 100);
        burner[i] = lcg_next(&seed, 16) == 0;
    }
    double *d_heat = device_copy_of(heat.data(), n), *d_conducts = device_copy_of(conducts.data(), n);
    unsigned char *d_burner = device_copy_of(burner.data(), n);
    double *d_next = device_array<double>(n), power = 1.5;
    dim3 block(32, 4, 2);
    dim3 grid((room.width + 31) / 32, (room.height + 3) / 4, (room.depth + 1) / 2);
    pair_time(&p, [&] { bake<<<grid, block>>>(d_heat, d_conducts, d_burner, d_next, room, power); });
    std::vector<double> next = host_copy_of(d_next, n);
    int step = p.small ? 1 : 3;
    for (int x = 0; x < room.width; x += step)
        for (int y = 0; y < room.height; y += step)
            for (int z = 0; z < room.depth; z += step) {
                size_t i = room.at(x, y, z);
                double want = heat[i];
                if (x > 0 && y > 0 && z > 0 && x + 1 < room.width && y + 1 < room.height && z + 1 < room.depth) {
                    double flow = heat[room.at(x - 1, y, z)] + heat[room.at(x + 1, y, z)];
                    flow += heat[room.at(x, y - 1, z)] + heat[room.at(x, y + 1, z)];
                    flow += heat[room.at(x, y, z - 1)] + heat[room.at(x, y, z + 1)];
                    want += conducts[i] * (flow - 6 * heat[i]) + power * burner[i];
                }
                pair_near(&p, "next", i, want, next[i], 1e-11);
            }
    return pair_end(&p);
}
