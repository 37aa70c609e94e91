// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the margin of the tile is loaded by all warps of the block instead of by the first one.
// Why: seven warps wait at the barrier while the first one goes through the margin.
#include "../common.h"

enum { WIDE = 32, HIGH = 8, REACH = 4, PITCH = WIDE + 2 * REACH, ROWS = HIGH + 2 * REACH };

#ifdef AFTER
enum { LOADERS = WIDE * HIGH };
#else
enum { LOADERS = WIDE };
#endif

// How far each place of a forest stands out above what is near it in eight directions, from a map of heights.
__global__ void tree_crowns(const float *heights, float *above, int width, int height) {
    __shared__ float tile[ROWS * PITCH];
    int left = blockIdx.x * WIDE, top = blockIdx.y * HIGH, me = threadIdx.y * WIDE + threadIdx.x;
    int x = left + threadIdx.x, y = top + threadIdx.y, centre = (threadIdx.y + REACH) * PITCH + threadIdx.x + REACH;
    tile[centre] = heights[y * width + x];
    if (me < LOADERS)
        for (int k = me; k < ROWS * PITCH; k += LOADERS) {
            int column = k % PITCH - REACH, row = k / PITCH - REACH;
            if (column >= 0 && column < WIDE && row >= 0 && row < HIGH)
                continue;
            tile[k] = heights[min(max(top + row, 0), height - 1) * width + min(max(left + column, 0), width - 1)];
        }
    __syncthreads();
    float most = 0;
#pragma unroll
    for (int away = 1; away <= REACH; away++) {
        most = fmaxf(most, fmaxf(tile[centre - away], tile[centre + away]));
        most = fmaxf(most, fmaxf(tile[centre - away * PITCH], tile[centre + away * PITCH]));
        most = fmaxf(most, fmaxf(tile[centre - away * (PITCH + 1)], tile[centre + away * (PITCH + 1)]));
        most = fmaxf(most, fmaxf(tile[centre - away * (PITCH - 1)], tile[centre + away * (PITCH - 1)]));
    }
    above[y * width + x] = tile[centre] - most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tree_crowns");
    int width = p.small ? 128 : 2048, height = p.small ? 64 : 2048;
    std::vector<float> heights = random_floats((size_t)width * height, 0, 35, 1);
    float *d_heights = device_copy_of(heights.data(), heights.size()), *d_above = device_array<float>(heights.size());
    dim3 grid(width / WIDE, height / HIGH), block(WIDE, HIGH);
    pair_time(&p, [&] { tree_crowns<<<grid, block>>>(d_heights, d_above, width, height); });
    std::vector<float> above = host_copy_of(d_above, heights.size());
    for (int y = 0; y < height; y++)
        for (int x = y % 11; x < width; x += 11) {
            float most = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    for (int away = 1; away <= REACH && (dx || dy); away++) {
                        int row = std::min(std::max(y + away * dy, 0), height - 1);
                        int column = std::min(std::max(x + away * dx, 0), width - 1);
                        most = std::max(most, heights[row * width + column]);
                    }
            pair_near(&p, "above", (size_t)y * width + x, heights[y * width + x] - most, above[y * width + x], 1e-6);
        }
    return pair_end(&p);
}
