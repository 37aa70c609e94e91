// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the part of the window that lies on the map is worked out before the loops.
// Why: four comparisons for each of the window's cells, true for nearly all, take more than the cell itself.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, MOST = 12 };

__constant__ float wind[(2 * MOST + 1) * (2 * MOST + 1)];  // how many of a tree's seeds fly so far

// Seedlings on each cell of a map: the seeds of the trees around that reach it, if the soil is good and light enough.
__global__ void seedlings(const float *trees, const float *soil, float *young, int width, int height, int radius) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    float seeds = 0;
#ifdef AFTER
    int left = max(-radius, -x), right = min(radius, width - 1 - x);
    int top = max(-radius, -y), bottom = min(radius, height - 1 - y);
    for (int dy = top; dy <= bottom; dy++) {
        const float *row = trees + (y + dy) * width + x, *share = wind + (dy + MOST) * (2 * MOST + 1) + MOST;
        for (int dx = left; dx <= right; dx++)
            seeds += share[dx] * row[dx];
    }
#else
    for (int dy = -radius; dy <= radius; dy++) {
        const float *row = trees + (y + dy) * width + x, *share = wind + (dy + MOST) * (2 * MOST + 1) + MOST;
        for (int dx = -radius; dx <= radius; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                seeds += share[dx] * row[dx];
    }
#endif
    float shade = trees[y * width + x], light = fmaxf(1.0f - 0.8f * shade, 0.0f);
    young[y * width + x] = fminf(seeds * soil[y * width + x] * light, 5.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "seed_spread");
    int width = p.small ? 64 : 2048, height = p.small ? 32 : 1024, radius = p.small ? 4 : 9, n = width * height;
    int side = 2 * MOST + 1;
    std::vector<float> trees = random_floats(n, 0, 1, 1), soil = random_floats(n, 0, 0.2f, 2), share(side * side);
    for (int dy = -MOST; dy <= MOST; dy++)
        for (int dx = -MOST; dx <= MOST; dx++)
            share[(dy + MOST) * side + dx + MOST] = 1.0f / (1.0f + (dx - 2) * (dx - 2) + dy * dy);  // from the west
    CUDA_CHECK(cudaMemcpyToSymbol(wind, share.data(), sizeof wind));
    float *d_trees = device_copy_of(trees.data(), n), *d_soil = device_copy_of(soil.data(), n),
          *d_young = device_array<float>(n);
    pair_time(&p, [&] {
        seedlings<<<dim3(width / BLOCK_X, height / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(d_trees, d_soil, d_young, width,
                                                                                       height, radius);
    });
    std::vector<float> young = host_copy_of(d_young, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        double seeds = 0;
        for (int dy = -radius; dy <= radius; dy++)
            for (int dx = -radius; dx <= radius; dx++) {
                int x = i % width + dx, y = i / width + dy;
                if (x >= 0 && x < width && y >= 0 && y < height)
                    seeds += (double)share[(dy + MOST) * side + dx + MOST] * trees[y * width + x];
            }
        pair_near(&p, "young", i, std::min(seeds * soil[i] * std::max(1 - 0.8 * trees[i], 0.0), 5.0), young[i], 1e-4);
    }
    return pair_end(&p);
}
