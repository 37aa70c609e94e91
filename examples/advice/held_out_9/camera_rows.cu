// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the picture is one block of memory with a pitch, no longer an array of pointers to rows.
// Why: where a row begins is loaded and waited for before its pixels are.
#include "../common.h"

enum { BLOCK = 128 };

// Exposure: each pixel and the one below it, weighed.
#ifdef AFTER
__global__ void camera_rows(const float *image, int pitch, float *out, int width, float gain) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    out[(size_t)y * width + x] = gain * (0.75f * image[(size_t)y * pitch + x] + 0.25f * image[(size_t)(y + 1) * pitch + x]);
}
#else
__global__ void camera_rows(float *const *rows, float *out, int width, float gain) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    out[(size_t)y * width + x] = gain * (0.75f * rows[y][x] + 0.25f * rows[y + 1][x]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "camera_rows");
    int width = p.small ? 256 : 2048, height = p.small ? 32 : 2048, pitch = width + 32;
    std::vector<float> image = random_floats((size_t)pitch * (height + 1), 0, 1, 1);
    float *d_image = device_copy_of(image.data(), image.size()), *d_out = device_array<float>((size_t)width * height);
    std::vector<float *> rows(height + 1);
    for (int y = 0; y <= height; y++)
        rows[y] = d_image + (size_t)y * pitch;
    float **d_rows = device_copy_of(rows.data(), rows.size());
    dim3 grid(width / BLOCK, height);
#ifdef AFTER
    (void)d_rows;
    pair_time(&p, [&] { camera_rows<<<grid, BLOCK>>>(d_image, pitch, d_out, width, 1.5f); });
#else
    pair_time(&p, [&] { camera_rows<<<grid, BLOCK>>>(d_rows, d_out, width, 1.5f); });
#endif
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (int i = 0; i < width * height; i += 1009) {
        size_t at = (size_t)(i / width) * pitch + i % width;
        pair_near(&p, "pixel", i, 1.5 * (0.75 * image[at] + 0.25 * image[at + pitch]), out[i], 1e-5);
    }
    return pair_end(&p);
}
