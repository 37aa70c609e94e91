// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the image is one block of memory with a pitch, no longer an array of pointers to rows.
// Why: every access has to wait for the row's pointer first; an address that is computed waits for nothing.
#include "common.h"

enum { RADIUS = 3 };

#ifdef AFTER
typedef const float *Image;
#define ROW(image, y, pitch) ((image) + (size_t)(y) * (pitch))
#else
typedef const float *const *Image;
#define ROW(image, y, pitch) ((image)[y])
#endif

// Weighted difference to the neighbours above and below (a vertical bilateral filter).
__global__ void bilateral(Image image, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y + RADIUS;
    if (x >= width || y >= height - RADIUS)
        return;
    float here = ROW(image, y, width)[x], sum = 0, weights = 0;
    for (int d = -RADIUS; d <= RADIUS; d++) {
        float there = ROW(image, y + d, width)[x], w = 1.0f / (1.0f + d * d + (there - here) * (there - here));
        sum += w * there;
        weights += w;
    }
    out[(size_t)y * width + x] = sum / weights;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "row_pointers");
    int width = p.small ? 1024 : 8192, height = p.small ? 480 : 4096;
    size_t n = (size_t)width * height;
    std::vector<float> in = random_floats(n, 0, 4, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    std::vector<const float *> rows;
    for (int y = 0; y < height; y++)
        rows.push_back(d_in + (size_t)y * width);
    const float **d_rows = device_copy_of(rows.data(), rows.size());
#ifdef AFTER
    Image image = d_in;
#else
    Image image = d_rows;
#endif
    dim3 block(32, 4), grid(width / 32, (height + 3) / 4);
    pair_time(&p, [&] { bilateral<<<grid, block>>>(image, d_out, width, height); });
    CUDA_CHECK(cudaFree(d_rows));
    std::vector<float> out = host_copy_of(d_out, n);
    for (int y = RADIUS; y < height - RADIUS; y += 13)
        for (int x = 0; x < width; x += 17) {
            double here = in[(size_t)y * width + x], sum = 0, weights = 0;
            for (int d = -RADIUS; d <= RADIUS; d++) {
                double there = in[(size_t)(y + d) * width + x], w = 1 / (1 + d * d + (there - here) * (there - here));
                sum += w * there;
                weights += w;
            }
            pair_near(&p, "out", (size_t)y * width + x, sum / weights, out[(size_t)y * width + x], 1e-4);
        }
    return pair_end(&p);
}
