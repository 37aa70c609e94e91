// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the lanes of a warp take pixels of one colour, two columns apart, instead of neighbouring pixels.
// Why: neighbours in a Bayer pattern take different branches, and a warp walks through both with half its lanes.
#include "common.h"

enum { WARP = 32, ROWS = 8 };

// Red (or blue) or green of a pixel that lacks it: the gradient picks the direction, weights fall with the gradient.
static __device__ __host__ float along(float a, float b, float c, float d, float own) {
    float h = fabsf(a - b), v = fabsf(c - d), wh = 1.0f / (1.0f + h * h), wv = 1.0f / (1.0f + v * v);
    return 0.5f * (wh * (a + b) + wv * (c + d)) / (wh + wv) + 0.05f * own;
}

static __device__ __host__ void green_pixel(const float *p, int pitch, float *rgb) {
    rgb[0] = along(p[-1], p[1], p[-1 - 2 * pitch], p[1 + 2 * pitch], p[0]);
    rgb[1] = p[0];
    rgb[2] = along(p[-pitch], p[pitch], p[-2 - pitch], p[2 + pitch], p[0]);
}

static __device__ __host__ void colour_pixel(const float *p, int pitch, float *rgb, bool red) {
    float corners = along(p[-1 - pitch], p[1 + pitch], p[1 - pitch], p[-1 + pitch], p[0]);
    rgb[0] = red ? p[0] : corners;
    rgb[1] = along(p[-1], p[1], p[-pitch], p[pitch], 2 * p[0] - p[-2] - p[2]);
    rgb[2] = red ? corners : p[0];
}

// Bayer pattern RGGB to an image of three planes.
__global__ void demosaic(const float *raw, float *out, int width, int height) {
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#ifdef AFTER
    int x = blockIdx.x * 2 * WARP + 2 * lane + warp % 2;
#else
    int x = blockIdx.x * 2 * WARP + lane + WARP * (warp % 2);
#endif
    int y = blockIdx.y * ROWS + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2)
        return;
    const float *p = raw + (size_t)y * width + x;
    float rgb[3];
    if ((x + y) % 2)
        green_pixel(p, width, rgb);
    else
        colour_pixel(p, width, rgb, y % 2 == 0);
    for (int c = 0; c < 3; c++)
        out[((size_t)c * height + y) * width + x] = rgb[c];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "demosaic");
    int width = p.small ? 512 : 4096, height = p.small ? 600 : 4096;
    size_t n = (size_t)width * height;
    std::vector<float> raw = random_floats(n, 0, 4, 1);
    float *d_raw = device_copy_of(raw.data(), n), *d_out = device_array<float>(3 * n);
    dim3 grid(width / (2 * WARP), (height + ROWS - 1) / ROWS);
    pair_time(&p, [&] { demosaic<<<grid, dim3(2 * WARP, ROWS)>>>(d_raw, d_out, width, height); });
    std::vector<float> out = host_copy_of(d_out, 3 * n);
    for (int y = 2; y < height - 2; y += 17)
        for (int x = 2; x < width - 2; x += 13) {
            float rgb[3];
            if ((x + y) % 2)
                green_pixel(&raw[(size_t)y * width + x], width, rgb);
            else
                colour_pixel(&raw[(size_t)y * width + x], width, rgb, y % 2 == 0);
            for (int c = 0; c < 3; c++)
                pair_near(&p, "rgb", y * width + x, rgb[c], out[((size_t)c * height + y) * width + x], 1e-4);
        }
    return pair_end(&p);
}
