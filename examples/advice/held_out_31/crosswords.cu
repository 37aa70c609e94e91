// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: five blocks share the rows of a column strip, instead of one block doing them all.
// Why: a page has only 78 strips of 32 columns, so many SMs get no block and the others one block each.
#include "../common.h"

#define STRIP 32
#define LINES 16
#define RADIUS 5

#ifdef AFTER
#define BLOCKS_PER_STRIP 5
#else
#define BLOCKS_PER_STRIP 1
#endif

typedef unsigned char Gray;

// Scanned crosswords: Sauvola's local threshold tells ink from paper. Positive: ink.
__global__ void ink(const Gray *__restrict__ page, float *__restrict__ darker, int width, int height) {
    int x = blockIdx.x * STRIP + threadIdx.x;
    if (x >= width)
        return;
    for (int y = blockIdx.y * LINES + threadIdx.y; y < height; y += gridDim.y * LINES) {
        int sum = 0, squares = 0;
        for (int dy = -RADIUS; dy <= RADIUS; dy++) {
            const Gray *row = page + min(max(y + dy, 0), height - 1) * width;
            for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                int g = row[min(max(x + dx, 0), width - 1)];
                sum += g;
                squares += g * g;
            }
        }
        const float share = 1.0f / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
        float mean = sum * share;
        float deviation = sqrtf(fmaxf(squares * share - mean * mean, 0.0f));
        float threshold = mean * (1.0f + 0.2f * (deviation * (1.0f / 128) - 1.0f));
        darker[y * width + x] = threshold - page[y * width + x];
    }
}

static double reference(const std::vector<Gray> &page, int width, int height, int x, int y) {
    double sum = 0, squares = 0, count = 0;
    for (int v = y - RADIUS; v <= y + RADIUS; v++) {
        for (int u = x - RADIUS; u <= x + RADIUS; u++) {
            double g = page[std::min(std::max(v, 0), height - 1) * width + std::min(std::max(u, 0), width - 1)];
            sum += g;
            squares += g * g;
            count++;
        }
    }
    double mean = sum / count, deviation = sqrt(std::max(squares / count - mean * mean, 0.0));
    return mean * (1 + 0.2 * (deviation / 128 - 1)) - page[y * width + x];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crosswords");
    const int width = p.small ? 90 : 2480, height = p.small ? 100 : 3508;
    std::vector<Gray> page((size_t)width * height);
    unsigned seed = 5;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            bool line = x % 60 < 3 || y % 60 < 3, black = (x / 60 * 7 + y / 60 * 3) % 5 == 0;
            int light = 200 - 60 * x / width;  // darker towards the book's fold
            page[(size_t)y * width + x] = (Gray)((line || black ? light / 4 : light) + lcg_next(&seed, 24));
        }
    Gray *d_page = device_copy_of(page.data(), page.size());
    float *d_darker = device_array<float>(page.size());
    dim3 block(STRIP, LINES), grid((width + STRIP - 1) / STRIP, BLOCKS_PER_STRIP);
    pair_time(&p, [&] { ink<<<grid, block>>>(d_page, d_darker, width, height); });
    std::vector<float> darker = host_copy_of(d_darker, page.size());
    for (size_t i = 0; i < page.size(); i += p.small ? 7 : 613)
        pair_near(&p, "darker", i, reference(page, width, height, i % width, i / width), darker[i], 2e-3);
    return pair_end(&p);
}
