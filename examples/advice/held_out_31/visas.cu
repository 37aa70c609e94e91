// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the cubic weights are floats.
// Why: with 1.5 and the like, weights that are kept as floats are computed as doubles and converted back.
#include "../common.h"

typedef unsigned char Gray;

struct Scan {
    Gray *pixels;
    int width, height;
};

// Catmull-Rom weights of four neighbours, f behind the second one.
__device__ void cubic_weights(float f, float w[4]) {
#ifdef AFTER
    w[0] = ((-0.5f * f + 1.0f) * f - 0.5f) * f;
    w[1] = (1.5f * f - 2.5f) * f * f + 1.0f;
    w[2] = ((-1.5f * f + 2.0f) * f + 0.5f) * f;
    w[3] = (0.5f * f - 0.5f) * f * f;
#else
    w[0] = ((-0.5 * f + 1.0) * f - 0.5) * f;
    w[1] = (1.5 * f - 2.5) * f * f + 1.0;
    w[2] = ((-1.5 * f + 2.0) * f + 0.5) * f;
    w[3] = (0.5 * f - 0.5) * f * f;
#endif
}

// Turns the scan of a page of visas that lay askew on the glass.
__global__ void deskew(Scan from, Scan to, float cosine, float sine) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= to.width || y >= to.height)
        return;
    float dx = x - 0.5f * (to.width - 1), dy = y - 0.5f * (to.height - 1);
    float u = cosine * dx - sine * dy + 0.5f * (from.width - 1);
    float v = sine * dx + cosine * dy + 0.5f * (from.height - 1);
    float left = floorf(u), top = floorf(v);
    float across[4], down[4];
    cubic_weights(u - left, across);
    cubic_weights(v - top, down);
    float sum = 0;
    for (int j = 0; j < 4; j++) {
        int row = min(max((int)top + j - 1, 0), from.height - 1);
        const Gray *line = from.pixels + (size_t)row * from.width;
        float of_line = 0;
        for (int i = 0; i < 4; i++)
            of_line += across[i] * line[min(max((int)left + i - 1, 0), from.width - 1)];
        sum += down[j] * of_line;
    }
    to.pixels[(size_t)y * to.width + x] = (Gray)min(max(__float2int_rn(sum), 0), 255);
}

static double keys(double t) {
    t = fabs(t);
    return t < 1 ? (1.5 * t - 2.5) * t * t + 1 : t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "visas");
    int width = p.small ? 200 : 4960, height = p.small ? 150 : 7016;
    size_t count = (size_t)width * height;
    double angle = 0.031;
    std::vector<Gray> page(count);
    unsigned seed = 12;
    for (size_t i = 0; i < count; i++)
        page[i] = (Gray)(i / 9 % 7 && i / width % 12 > 3 ? 190 + lcg_next(&seed, 40) : 60 + lcg_next(&seed, 60));
    Scan from = {device_copy_of(page.data(), count), width, height}, to = {device_array<Gray>(count), width, height};

    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { deskew<<<grid, block>>>(from, to, (float)cos(angle), (float)sin(angle)); });

    std::vector<Gray> straight = host_copy_of(to.pixels, count);
    for (size_t k = 0; k < count; k += p.small ? 17 : 5003) {
        double dx = (int)(k % width) - 0.5 * (width - 1), dy = (int)(k / width) - 0.5 * (height - 1);
        double u = cos(angle) * dx - sin(angle) * dy + 0.5 * (width - 1);
        double v = sin(angle) * dx + cos(angle) * dy + 0.5 * (height - 1);
        double sum = 0;
        for (int row = (int)floor(v) - 1; row <= (int)floor(v) + 2; row++)
            for (int column = (int)floor(u) - 1; column <= (int)floor(u) + 2; column++) {
                int r = std::min(std::max(row, 0), height - 1), c = std::min(std::max(column, 0), width - 1);
                sum += keys(v - row) * keys(u - column) * page[(size_t)r * width + c];
            }
        double expected = std::min(std::max(sum, 0.0), 255.0);
        pair_near(&p, "pixel", k, expected, straight[k], 1.2 / (1 + expected));
    }
    return pair_end(&p);
}
