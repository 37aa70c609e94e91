// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the map has a margin, so that no neighbour is outside.
// Why: each of eight neighbours is tested.
#include "../common.h"

enum { BLOCK = 128 };

// The steepest way down from each place of a map.
__global__ void terrain(const float *map, float *out, int width, int height) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y, pitch = width + 2;
    const float *here = map + (size_t)(y + 1) * pitch + x + 1;
    float most = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
#ifndef AFTER
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height)
                continue;
#endif
            float down = *here - here[dy * pitch + dx];
            most = fmaxf(most, dx && dy ? down * 0.70710678f : down);
        }
    out[(size_t)y * width + x] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "terrain");
    int width = p.small ? 256 : 2048, height = p.small ? 32 : 2048, pitch = width + 2;
    std::vector<float> map = random_floats((size_t)pitch * (height + 2), 0, 100, 1);
    for (int y = 0; y < height + 2; y++)
        for (int x = 0; x < pitch; x++)
            if (x == 0 || y == 0 || x == pitch - 1 || y == height + 1)
                map[(size_t)y * pitch + x] = 1000;
    float *d_map = device_copy_of(map.data(), map.size()), *d_out = device_array<float>((size_t)width * height);
    dim3 grid(width / BLOCK, height);
    pair_time(&p, [&] { terrain<<<grid, BLOCK>>>(d_map, d_out, width, height); });
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (int i = 0; i < width * height; i += 1009) {
        const float *here = &map[(size_t)(i / width + 1) * pitch + i % width + 1];
        float most = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                most = std::max(most, (*here - here[dy * pitch + dx]) * (dx && dy ? 0.70710678f : 1));
        pair_near(&p, "slope", i, most, out[i], 1e-5);
    }
    return pair_end(&p);
}
