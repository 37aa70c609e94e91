// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: the eight counters are bytes of one 64-bit register instead of an array.
// Why: an array that data indexes lies in local memory.
#include "../common.h"

enum { BLOCK = 128, PIXELS = 64, CLASSES = 8 };

// The most frequent of eight classes of brightness in each block of 8 x 8 pixels; pixels of neighbouring blocks lie
// beside each other.
__global__ void block_palette(const unsigned char *pixels, unsigned char *out, int blocks) {
    int i = blockIdx.x * BLOCK + threadIdx.x, best = 0, most = 0;
#ifdef AFTER
    unsigned long long counts = 0;
    for (int k = 0; k < PIXELS; k++)
        counts += 1ull << (pixels[k * blocks + i] >> 5) * 8;
#else
    unsigned char counts[CLASSES] = {0};
    for (int k = 0; k < PIXELS; k++)
        counts[pixels[k * blocks + i] >> 5]++;
#endif
    for (int c = 0; c < CLASSES; c++) {
#ifdef AFTER
        int count = counts >> c * 8 & 255;
#else
        int count = counts[c];
#endif
        if (count > most)
            most = count, best = c;
    }
    out[i] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "block_palette");
    int blocks = p.small ? 1 << 13 : 1 << 20;
    std::vector<unsigned char> pixels((size_t)PIXELS * blocks);
    lcg_fill(pixels.data(), pixels.size(), 1, 256);
    unsigned char *d_pixels = device_copy_of(pixels.data(), pixels.size()), *d_out = device_array<unsigned char>(blocks);
    pair_time(&p, [&] { block_palette<<<blocks / BLOCK, BLOCK>>>(d_pixels, d_out, blocks); });
    std::vector<unsigned char> out = host_copy_of(d_out, blocks);
    for (int i = 0; i < blocks; i += 97) {
        int counts[CLASSES] = {0};
        for (int k = 0; k < PIXELS; k++)
            counts[pixels[(size_t)k * blocks + i] >> 5]++;
        pair_near(&p, "class", i, std::max_element(counts, counts + CLASSES) - counts, out[i], 0);
    }
    return pair_end(&p);
}
