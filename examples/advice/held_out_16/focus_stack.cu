// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the window's radius is a template argument and both loops over the window are unrolled.
// Why: with a radius that only the host knows, each of 25 pixels pays for counting, comparing and its address.
#include "../common.h"

enum { RADIUS = 2 };

#ifdef AFTER
#define WINDOW_TEMPLATE template <int radius>
#define RADIUS_ARGUMENT
#define UNROLL _Pragma("unroll")
#else
#define WINDOW_TEMPLATE
#define RADIUS_ARGUMENT , int radius
#define UNROLL
#endif

// How sharp a microscope's picture is at each pixel: the variance of the grey values around it. The picture has a
// margin.
WINDOW_TEMPLATE __global__ void sharpness(const float *picture, float *sharp, int width, int height,
                                          int pitch RADIUS_ARGUMENT) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *middle = picture + (y + radius) * pitch + x + radius;
    float here = *middle, sum = 0, squares = 0;
    UNROLL
    for (int dy = -radius; dy <= radius; dy++)
        UNROLL
    for (int dx = -radius; dx <= radius; dx++) {
        float difference = middle[dy * pitch + dx] - here;
        sum += difference;
        squares += difference * difference;
    }
    float per_pixel = 1.0f / ((2 * radius + 1) * (2 * radius + 1)), mean = sum * per_pixel;
    sharp[y * width + x] = squares * per_pixel - mean * mean;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "focus_stack");
    int width = p.small ? 160 : 5472, height = p.small ? 96 : 3648, pitch = (width + 2 * RADIUS + 31) / 32 * 32;
    size_t pixels = (size_t)width * height;
    std::vector<float> picture = random_floats((size_t)pitch * (height + 2 * RADIUS), 0, 255, 1);
    float *d_picture = device_copy_of(picture.data(), picture.size()), *d_sharp = device_array<float>(pixels);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] {
#ifdef AFTER
        sharpness<RADIUS><<<grid, block>>>(d_picture, d_sharp, width, height, pitch);
#else
        sharpness<<<grid, block>>>(d_picture, d_sharp, width, height, pitch, RADIUS);
#endif
    });
    std::vector<float> sharp = host_copy_of(d_sharp, pixels);
    for (size_t i = 0; i < pixels; i += 101) {
        const float *middle = &picture[(i / width + RADIUS) * pitch + i % width + RADIUS];
        double sum = 0, squares = 0, count = (2 * RADIUS + 1) * (2 * RADIUS + 1);
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                double value = middle[dy * pitch + dx];
                sum += value;
                squares += value * value;
            }
        pair_near(&p, "sharpness", i, squares / count - sum / count * sum / count, sharp[i], 1e-4);
    }
    return pair_end(&p);
}
