// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the tests whether a neighbour lies inside the image are left out; the image has a margin of zeros.
// Why: 25 times four comparisons for a pixel, which nearly always have the same result.
#include "../common.h"

enum { BLOCK_X = 64, BLOCK_Y = 4, R = 2 };

// Grey-scale dilation: the greatest of 5 x 5 values, each lowered by the structuring element.
__global__ void dilate(const unsigned short *in, unsigned short *out, int width, int height, int pitch, int slope) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, most = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
#ifndef AFTER
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
#endif
                most = max(most, in[(y + dy + R) * pitch + x + dx + R] - slope * (dx * dx + dy * dy));
        }
    out[y * width + x] = (unsigned short)most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dilate");
    int width = p.small ? 512 : 4096, height = p.small ? 256 : 2048, pitch = width + 2 * R, slope = 40;
    std::vector<unsigned short> in((size_t)pitch * (height + 2 * R), 0);
    unsigned seed = 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            in[(size_t)(y + R) * pitch + x + R] = (unsigned short)lcg_next(&seed, 4096);
    unsigned short *d_in = device_copy_of(in.data(), in.size()),
                   *d_out = device_array<unsigned short>((size_t)width * height);
    pair_time(&p, [&] {
        dilate<<<dim3(width / BLOCK_X, height / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(d_in, d_out, width, height, pitch,
                                                                                    slope);
    });
    std::vector<unsigned short> out = host_copy_of(d_out, (size_t)width * height);
    for (int y = 0; y < height; y += 7)
        for (int x = 0; x < width; x += 13) {
            int most = 0;
            for (int dy = -R; dy <= R; dy++)
                for (int dx = -R; dx <= R; dx++)
                    most = std::max(most, in[(size_t)(y + dy + R) * pitch + x + dx + R] - slope * (dx * dx + dy * dy));
            pair_near(&p, "out", (size_t)y * width + x, most, out[(size_t)y * width + x], 0);
        }
    return pair_end(&p);
}
