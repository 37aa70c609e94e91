// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: a block brings its part of the image, with the margin, to shared memory and takes the windows from there.
// Why: every pixel is in 49 windows; of 49 loads from global memory a pixel, less than two remain.
#include "../common.h"

#define TILE_W 32
#define TILE_H 8

// Lee's filter against the speckle of radar images of drift ice: where a window is no rougher than speckle alone, its
// mean is taken. The image has a margin of R pixels on all sides.
template <int R>
__global__ void lee(const float *__restrict__ image, float *__restrict__ smooth, int width, int height, float speckle) {
    const int pitch = width + 2 * R;
    const int x = blockIdx.x * TILE_W + threadIdx.x, y = blockIdx.y * TILE_H + threadIdx.y;
#ifdef AFTER
    __shared__ float tile[TILE_H + 2 * R][TILE_W + 2 * R];
    for (int v = threadIdx.y; v < TILE_H + 2 * R; v += TILE_H)
        for (int u = threadIdx.x; u < TILE_W + 2 * R; u += TILE_W) {
            int from_x = blockIdx.x * TILE_W + u, from_y = blockIdx.y * TILE_H + v;
            if (from_x < pitch && from_y < height + 2 * R)
                tile[v][u] = image[(size_t)from_y * pitch + from_x];
        }
    __syncthreads();
#endif
    if (x >= width || y >= height)
        return;
    const float pixel = image[(size_t)(y + R) * pitch + x + R];
    float sum = 0, squares = 0;
#pragma unroll
    for (int v = 0; v <= 2 * R; v++)
#pragma unroll
        for (int u = 0; u <= 2 * R; u++) {
#ifdef AFTER
            float a = tile[threadIdx.y + v][threadIdx.x + u];
#else
            float a = image[(size_t)(y + v) * pitch + x + u];
#endif
            sum += a;
            squares += a * a;
        }
    const float share = 1.0f / ((2 * R + 1) * (2 * R + 1));
    float mean = sum * share, variance = squares * share - mean * mean;
    float real = fmaxf(variance - speckle * mean * mean, 0.0f);
    smooth[(size_t)y * width + x] = mean + real / (variance + 1e-6f) * (pixel - mean);
}

int main(int argc, char **argv) {
    constexpr int R = 3;
    Pair p = pair_begin(argc, argv, "icefloes");
    int width = p.small ? 100 : 6100, height = p.small ? 50 : 4300, pitch = width + 2 * R;
    float speckle = 0.06f;
    std::vector<float> image((size_t)pitch * (height + 2 * R));
    unsigned seed = 31;
    for (size_t i = 0; i < image.size(); i++) {
        int x = (int)(i % pitch), y = (int)(i / pitch);
        float floe = (x / 23 + y / 17) % 3 ? 0.3f : 1.1f;
        image[i] = floe * (0.4f + (lcg_next(&seed, 1000) + lcg_next(&seed, 1000)) * 0.0006f);
    }
    float *d_image = device_copy_of(image.data(), image.size());
    float *d_smooth = device_array<float>((size_t)width * height);
    dim3 block(TILE_W, TILE_H), grid((width + TILE_W - 1) / TILE_W, (height + TILE_H - 1) / TILE_H);
    pair_time(&p, [&] { lee<R><<<grid, block>>>(d_image, d_smooth, width, height, speckle); });
    std::vector<float> smooth = host_copy_of(d_smooth, (size_t)width * height);
    for (size_t i = 0; i < smooth.size(); i += p.small ? 1 : 1511) {
        const float *corner = &image[i / width * pitch + i % width];
        double sum = 0, squares = 0;
        for (int k = 0; k < 49; k++) {
            double a = corner[k / 7 * pitch + k % 7];
            sum += a;
            squares += a * a;
        }
        double mean = sum / 49, variance = squares / 49 - mean * mean;
        double real = std::max(variance - speckle * mean * mean, 0.0);
        pair_near(&p, "smooth", i, mean + real / (variance + 1e-6) * (corner[3 * pitch + 3] - mean), smooth[i], 1e-3);
    }
    return pair_end(&p);
}
