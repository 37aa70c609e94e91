// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread does eight cells, one below the other, and uses each height that it has loaded for all of them.
// Why: the windows of neighbouring cells share 32 of their 33 heights; with one cell a thread, each height is loaded 33
// times from the cache, a load for every multiply-add.
#include "../common.h"

#ifdef AFTER
#define CELLS 8
#else
#define CELLS 1
#endif

enum { WIDE = 64, HIGH = 4, WINDOW = 33, HALF = WINDOW / 2 };

__constant__ float weights[WINDOW];

// How far the cells of a map of heights are above their surroundings to the north and the south: on a plateau little,
// on its edge much. Beyond the map it goes on as at its border.
__global__ void prominence(const float *heights, float *above, int width, int height) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = (blockIdx.y * HIGH + threadIdx.y) * CELLS;
    float sum[CELLS];
#pragma unroll
    for (int c = 0; c < CELLS; c++)
        sum[c] = 0;
#pragma unroll
    for (int k = 0; k < WINDOW + CELLS - 1; k++) {
        int row = min(max(y + k - HALF, 0), height - 1);
        float here = heights[(size_t)row * width + x];
#pragma unroll
        for (int c = 0; c < CELLS; c++) {
            if (k >= c && k - c < WINDOW)
                sum[c] += weights[k - c] * here;
        }
    }
#pragma unroll
    for (int c = 0; c < CELLS; c++)
        above[(size_t)(y + c) * width + x] = sum[c];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plateaus");
    int width = p.small ? 128 : 4096, height = p.small ? 64 : 4608;
    size_t n = (size_t)width * height;
    std::vector<float> heights = random_floats(n, 0, 100, 1), weight(WINDOW);
    float all = 0;
    for (int k = 0; k < WINDOW; k++)
        all += expf(-0.01f * (k - HALF) * (k - HALF));
    for (int k = 0; k < WINDOW; k++)
        weight[k] = (k == HALF ? 1 : 0) - expf(-0.01f * (k - HALF) * (k - HALF)) / all;
    CUDA_CHECK(cudaMemcpyToSymbol(weights, weight.data(), WINDOW * sizeof(float)));
    float *d_heights = device_copy_of(heights.data(), n), *d_above = device_array<float>(n);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / (HIGH * CELLS));
    pair_time(&p, [&] { prominence<<<grid, block>>>(d_heights, d_above, width, height); });
    std::vector<float> above = host_copy_of(d_above, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 67) {
        int x = (int)(i % width), y = (int)(i / width);
        double expected = 0;
        for (int k = 0; k < WINDOW; k++) {
            int row = std::min(std::max(y + k - HALF, 0), height - 1);
            expected += (double)weight[k] * heights[(size_t)row * width + x];
        }
        pair_near(&p, "above", i, expected, above[i], 1e-4);
    }
    return pair_end(&p);
}
