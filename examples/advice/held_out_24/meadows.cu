// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: each row of the tile in shared memory has one more column that nobody uses.
// Why: with rows of 32 words, the lanes that each sum up a row of their own all meet in the same bank.
#include "../common.h"

constexpr int TILE = 32, WINDOW = 8, PLACES = TILE - WINDOW + 1;
constexpr int WARPS = 4;

#ifdef AFTER
constexpr int PITCH = TILE + 1;
#else
constexpr int PITCH = TILE;
#endif

// Sum of rows up to y and columns up to x of a summed area table; -1 is the edge.
__device__ __forceinline__ int area(const int (*sums)[PITCH], int y, int x) {
    return y < 0 || x < 0 ? 0 : sums[y][x];
}

// The place with most flowers, 8 by 8 steps large, in each plot of 32 by 32: flowers * 1024 + y * 32 + x. A warp makes
// the summed area table of a plot, first along the rows, then down the columns, and looks at all places.
__global__ void __launch_bounds__(WARPS *TILE) find_picnic(const unsigned char *flowers, int *places, int width) {
    __shared__ int tables[WARPS][TILE][PITCH];
    int lane = threadIdx.x, plot_x = blockIdx.x * WARPS + threadIdx.y;
    int(*sums)[PITCH] = tables[threadIdx.y];
    const unsigned char *corner = flowers + (size_t)blockIdx.y * TILE * width + plot_x * TILE;
    for (int y = 0; y < TILE; y++)
        sums[y][lane] = corner[(size_t)y * width + lane];
    __syncwarp();
    for (int x = 0, run = 0; x < TILE; x++) {
        run += sums[lane][x];
        sums[lane][x] = run;
    }
    __syncwarp();
    for (int y = 0, run = 0; y < TILE; y++) {
        run += sums[y][lane];
        sums[y][lane] = run;
    }
    __syncwarp();
    int best = -1;
    if (lane < PLACES) {
        for (int y = 0; y < PLACES; y++) {
            int right = lane + WINDOW - 1, bottom = y + WINDOW - 1;
            int inside = area(sums, bottom, right) - area(sums, y - 1, right) - area(sums, bottom, lane - 1) +
                         area(sums, y - 1, lane - 1);
            best = max(best, inside << 10 | y << 5 | lane);
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        best = max(best, __shfl_xor_sync(0xffffffffu, best, offset));
    if (lane == 0)
        places[blockIdx.y * gridDim.x * WARPS + plot_x] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "meadows");
    int width = p.small ? 256 : 8192, height = p.small ? 128 : 4096;
    int plots_x = width / TILE, plots_y = height / TILE;
    std::vector<unsigned char> flowers((size_t)width * height);
    lcg_fill(flowers.data(), flowers.size(), 5, 200);
    unsigned char *d_flowers = device_copy_of(flowers.data(), flowers.size());
    int *d_places = device_array<int>((size_t)plots_x * plots_y);
    dim3 grid(plots_x / WARPS, plots_y), block(TILE, WARPS);
    pair_time(&p, [&] { find_picnic<<<grid, block>>>(d_flowers, d_places, width); });
    std::vector<int> places = host_copy_of(d_places, (size_t)plots_x * plots_y);
    for (int plot = 0; plot < plots_x * plots_y; plot += p.small ? 1 : 37) {
        const unsigned char *corner =
            &flowers[(size_t)(plot / plots_x) * TILE * width + (size_t)(plot % plots_x) * TILE];
        int best = -1;
        for (int y = 0; y < PLACES; y++) {
            for (int x = 0; x < PLACES; x++) {
                int inside = 0;
                for (int k = 0; k < WINDOW * WINDOW; k++)
                    inside += corner[(size_t)(y + k / WINDOW) * width + x + k % WINDOW];
                best = std::max(best, inside << 10 | y << 5 | x);
            }
        }
        pair_near(&p, "places", plot, best, places[plot], 0);
    }
    return pair_end(&p);
}
