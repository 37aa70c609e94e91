// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: where a cell's six neighbours are is computed instead of read from a table.
// Why: the table has 24 bytes a cell, six times the grass, and no neighbour can be read before its index is there.
#include "../common.h"

// Hexagonal cells in rows, odd rows half a cell to the right; the prairie goes on at the opposite edge.
__host__ __device__ inline int hexagon_beside(int x, int y, int side, int width, int height) {
    const int odd = y & 1;
    switch (side) {
    case 0:
        x++;
        break;
    case 1:
        x--;
        break;
    case 2:
    case 3:
        y--;
        x += side - 3 + odd;
        break;
    default:
        y++;
        x += side - 5 + odd;
    }
    x = x < 0 ? width - 1 : x == width ? 0 : x;
    y = y < 0 ? height - 1 : y == height ? 0 : y;
    return y * width + x;
}

struct Season {
    float growth, spread, grazed;
};

__host__ __device__ inline float grown(float grass, float around, const Season &season) {
    float next = grass + season.growth * grass * (1 - grass) + season.spread * (around / 6 - grass);
    next -= season.grazed * grass * grass / (0.04f + grass * grass);
    return fmaxf(next, 0.0f);
}

// One season of a prairie: grass grows, spreads to the cells around and is grazed.
__global__ void prairie_step(const float *grass, const int *beside, float *next, int width, int height, Season season) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int cell = y * width + x;
    float around = 0;
#pragma unroll
    for (int side = 0; side < 6; side++) {
#ifdef AFTER
        around += grass[hexagon_beside(x, y, side, width, height)];
#else
        around += grass[beside[(size_t)side * width * height + cell]];
#endif
    }
    next[cell] = grown(grass[cell], around, season);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "prairies");
    int width = p.small ? 150 : 4500, height = p.small ? 70 : 2600, cells = width * height;
    std::vector<float> grass = random_floats(cells, 0.05f, 1, 3);
    std::vector<int> beside((size_t)6 * cells);
    for (int side = 0; side < 6; side++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                beside[(size_t)side * cells + y * width + x] = hexagon_beside(x, y, side, width, height);
    Season season = {0.21f, 0.3f, 0.06f};
    float *d_grass = device_copy_of(grass.data(), cells), *d_next = device_array<float>(cells);
    int *d_beside = NULL;
#ifndef AFTER
    d_beside = device_copy_of(beside.data(), beside.size());
#endif
    dim3 block(64, 4), grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    pair_time(&p, [&] { prairie_step<<<grid, block>>>(d_grass, d_beside, d_next, width, height, season); });
    std::vector<float> next = host_copy_of(d_next, cells);
    for (int i = 0; i < cells; i += p.small ? 1 : 37) {
        float around = 0;
        for (int side = 0; side < 6; side++)
            around += grass[beside[(size_t)side * cells + i]];
        pair_near(&p, "grass", i, grown(grass[i], around, season), next[i], 1e-5);
    }
    return pair_end(&p);
}
