// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the map has a margin of four empty cells on each side, so the test for the map's edge goes.
// Why: four comparisons and a branch for every cell in reach cost more than the multiplication they guard.
#include "../common.h"

enum { REACH = 4, SIDE = 2 * REACH + 1 };
#ifdef AFTER
enum { MARGIN = REACH };
#else
enum { MARGIN = 0 };
#endif

__constant__ float flight[SIDE * SIDE];

// Bites a night in each cell, by mosquitoes that hatch up to four cells away.
__global__ void bite_rate(const float *hatched, const float *people, float *bites, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int pitch = width + 2 * MARGIN;
    float arriving = 0;
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++) {
            int u = x + dx, v = y + dy;
#ifndef AFTER
            if (u < 0 || u >= width || v < 0 || v >= height)
                continue;
#endif
            arriving += flight[(dy + REACH) * SIDE + dx + REACH] * hatched[(v + MARGIN) * pitch + u + MARGIN];
        }
    float host = people[y * width + x];
    bites[y * width + x] = arriving * host / (host + 30.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mosquitoes");
    int width = p.small ? 90 : 2300, height = p.small ? 61 : 1450;
    std::vector<float> hatched = random_floats((size_t)width * height, 0, 200, 3);
    std::vector<float> people = random_floats((size_t)width * height, 0, 500, 4);
    float odds[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        int dx = i % SIDE - REACH, dy = i / SIDE - REACH;
        odds[i] = 0.03f * expf(-0.2f * (dx * dx + dy * dy));
    }
    CUDA_CHECK(cudaMemcpyToSymbol(flight, odds, sizeof odds));
    int pitch = width + 2 * MARGIN;
    std::vector<float> map((size_t)pitch * (height + 2 * MARGIN), 0.0f);
    for (int y = 0; y < height; y++)
        std::copy_n(&hatched[(size_t)y * width], width, &map[(size_t)(y + MARGIN) * pitch + MARGIN]);
    float *d_map = device_copy_of(map.data(), map.size()), *d_people = device_copy_of(people.data(), people.size());
    float *d_bites = device_array<float>(people.size());
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { bite_rate<<<grid, block>>>(d_map, d_people, d_bites, width, height); });
    std::vector<float> bites = host_copy_of(d_bites, people.size());
    for (int i = 0; i < width * height; i += i < 3 * width ? 1 : 211) {
        double arriving = 0;
        for (int k = 0; k < SIDE * SIDE; k++) {
            int u = i % width + k % SIDE - REACH, v = i / width + k / SIDE - REACH;
            if (u >= 0 && u < width && v >= 0 && v < height)
                arriving += odds[k] * hatched[(size_t)v * width + u];
        }
        pair_near(&p, "bites", i, arriving * people[i] / (people[i] + 30.0), bites[i], 1e-4);
    }
    return pair_end(&p);
}
