// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the image has a margin, so that a neighbour's place needs no test.
// Why: two tests for each of sixteen neighbours, nearly always with the same result.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, POINTS = 16, MARGIN = 3 };

__constant__ int c_dx[POINTS] = {3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1, 0, 1, 2, 3},
                 c_dy[POINTS] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};

// Local binary patterns (as of FAST corners): which pixels of a circle are brighter than its centre; outside is black.
__global__ void local_pattern(const unsigned char *image, unsigned short *out, int width, int height, int pitch) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned pattern = 0, centre = image[y * pitch + x];
    for (int k = 0; k < POINTS; k++) {
        int nx = x + c_dx[k], ny = y + c_dy[k];
#ifdef AFTER
        pattern |= (unsigned)(image[ny * pitch + nx] > centre) << k;
#else
        if (nx >= 0 && nx < width && ny >= 0 && ny < height)
            pattern |= (unsigned)(image[ny * pitch + nx] > centre) << k;
#endif
    }
    out[y * width + x] = pattern;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "local_pattern");
    int width = p.small ? 320 : 3840, height = p.small ? 200 : 2160, pitch = width + 2 * MARGIN;
    std::vector<unsigned char> padded((size_t)pitch * (height + 2 * MARGIN), 0);
    unsigned seed = 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            padded[(size_t)(y + MARGIN) * pitch + x + MARGIN] = lcg_next(&seed, 256);
    unsigned char *d_padded = device_copy_of(padded.data(), padded.size());
    unsigned short *d_out = device_array<unsigned short>((size_t)width * height);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y), block(BLOCK_X, BLOCK_Y);
    pair_time(&p,
              [&] { local_pattern<<<grid, block>>>(d_padded + MARGIN * pitch + MARGIN, d_out, width, height, pitch); });
    std::vector<unsigned short> out = host_copy_of(d_out, (size_t)width * height);
    static const int dx[POINTS] = {3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1, 0, 1, 2, 3},
                     dy[POINTS] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};
    for (int i = 0; i < width * height; i += 59) {
        const unsigned char *at = &padded[(size_t)(i / width + MARGIN) * pitch + i % width + MARGIN];
        unsigned pattern = 0;
        for (int k = 0; k < POINTS; k++)
            pattern |= (unsigned)(at[dy[k] * pitch + dx[k]] > *at) << k;
        pair_near(&p, "pattern", i, pattern, out[i], 0);
    }
    return pair_end(&p);
}
