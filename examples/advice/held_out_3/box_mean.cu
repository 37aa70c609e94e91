// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Also: redundant-loads
// Change: a block's part of the image and its margin are loaded into shared memory first.
// Why: each pixel is loaded 81 times, and the L1 answers one line at a time.
#include "../common.h"

enum { SIDE_X = 32, SIDE_Y = 8, RADIUS = 4, TILE_X = SIDE_X + 2 * RADIUS, TILE_Y = SIDE_Y + 2 * RADIUS };

__global__ void box_mean(const float *in, float *out, int width, int pitch) {
    int x = blockIdx.x * SIDE_X + threadIdx.x, y = blockIdx.y * SIDE_Y + threadIdx.y;
    float sum = 0;
#ifdef AFTER
    __shared__ float tile[TILE_Y][TILE_X];
    for (int v = threadIdx.y; v < TILE_Y; v += SIDE_Y)
        for (int u = threadIdx.x; u < TILE_X; u += SIDE_X)
            tile[v][u] = in[(blockIdx.y * SIDE_Y + v) * pitch + blockIdx.x * SIDE_X + u];
    __syncthreads();
    for (int v = 0; v <= 2 * RADIUS; v++)
        for (int u = 0; u <= 2 * RADIUS; u++)
            sum += tile[threadIdx.y + v][threadIdx.x + u];
#else
    for (int v = 0; v <= 2 * RADIUS; v++)
        for (int u = 0; u <= 2 * RADIUS; u++)
            sum += in[(y + v) * pitch + x + u];
#endif
    out[y * width + x] = sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
}

// Mean over 9 x 9 pixels of an image with a margin.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "box_mean");
    int width = p.small ? 256 : 2048, height = p.small ? 128 : 2048, pitch = width + 2 * RADIUS;
    std::vector<float> in = random_floats((size_t)pitch * (height + 2 * RADIUS), 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>((size_t)width * height);
    pair_time(&p, [&] {
        box_mean<<<dim3(width / SIDE_X, height / SIDE_Y), dim3(SIDE_X, SIDE_Y)>>>(d_in, d_out, width, pitch);
    });
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (int y = 0; y < height; y += 17)
        for (int x = 0; x < width; x += 19) {
            double sum = 0;
            for (int v = 0; v <= 2 * RADIUS; v++)
                for (int u = 0; u <= 2 * RADIUS; u++)
                    sum += in[(size_t)(y + v) * pitch + x + u];
            pair_near(&p, "out", (size_t)y * width + x, sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1)),
                      out[(size_t)y * width + x], 1e-4);
        }
    return pair_end(&p);
}
