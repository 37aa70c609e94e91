// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the test whether a neighbour lies inside the image is left out; the image has a margin of zeros anyway.
// Why: four comparisons and a branch go with every multiplication, and the load cannot start before the branch is
// decided.
#include "common.h"

enum { MARGIN = 8 };

// Blur with a radius that is an argument. `in` points at the first pixel inside the margin.
__global__ void blur(const float *in, const float *weight, float *out, int width, int height, int pitch, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int sx = x + dx, sy = y + dy;
#ifndef AFTER
            if (sx < 0 || sx >= width || sy < 0 || sy >= height)
                continue;
#endif
            sum += weight[abs(dx)] * weight[abs(dy)] * in[sy * pitch + sx];
        }
    out[y * width + x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "blur");
    int width = p.small ? 384 : 2048, height = p.small ? 264 : 2048, pitch = width + 2 * MARGIN,
        radius = p.small ? 3 : 5;
    size_t n = (size_t)pitch * (height + 2 * MARGIN), origin = (size_t)MARGIN * pitch + MARGIN;
    std::vector<float> in(n, 0.0f), inside = random_floats((size_t)width * height, 0, 1, 1),
                                    weight = {0.3f, 0.2f, 0.1f, 0.05f, 0.03f, 0.02f, 0.01f};
    for (int y = 0; y < height; y++)
        std::copy_n(inside.begin() + (size_t)y * width, width, in.begin() + origin + (size_t)y * pitch);
    float *d_in = device_copy_of(in.data(), n), *d_weight = device_copy_of(weight.data(), weight.size()),
          *d_out = device_array<float>(inside.size());
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { blur<<<grid, block>>>(d_in + origin, d_weight, d_out, width, height, pitch, radius); });
    std::vector<float> out = host_copy_of(d_out, inside.size());
    for (int y = 0; y < height; y += 11)
        for (int x = 0; x < width; x += 13) {
            double sum = 0;
            for (int dy = -radius; dy <= radius; dy++)
                for (int dx = -radius; dx <= radius; dx++)
                    sum += (double)weight[abs(dx)] * weight[abs(dy)] * in[origin + (y + dy) * pitch + x + dx];
            pair_near(&p, "out", y * width + x, sum, out[y * width + x], 1e-4);
        }
    return pair_end(&p);
}
