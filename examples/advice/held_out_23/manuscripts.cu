// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Also: vectorised-access
// Change: a thread reads its 32 pixels as two words of 16 bytes, not byte by byte.
// Why: each of the 32 byte loads of a warp goes through a kilobyte of cache lines to fetch 32 bytes of it.
#include "../common.h"

enum { BLOCK = 128, STRIP = 32 };

// Makes black and white of a scanned manuscript, a bit for each pixel, as the paper of each line of pixels is dark; and
// tells how much ink there is in each strip of 32 pixels.
__global__ void binarise(const unsigned char *scan, const unsigned char *paper, unsigned *bits, unsigned short *ink,
                         int strips, int strips_per_line) {
    int strip = blockIdx.x * BLOCK + threadIdx.x;
    if (strip >= strips)
        return;
    int limit = paper[strip / strips_per_line];
#ifdef AFTER
    const uint4 *pixels = (const uint4 *)scan + 2 * (size_t)strip;
    uint4 left = pixels[0], right = pixels[1];
    unsigned four[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
#define GREY(k) (int)((four[(k) / 4] >> (8 * ((k) % 4))) & 255)
#else
    const unsigned char *pixels = scan + STRIP * (size_t)strip;
#define GREY(k) (int)pixels[k]
#endif
    unsigned black = 0;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < STRIP; k++) {
        int under = limit - GREY(k);
        if (under > 0) {
            black |= 1u << k;
            sum += under;
        }
    }
    bits[strip] = black;
    ink[strip] = (unsigned short)sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "manuscripts");
    int width = p.small ? 1024 : 8192, height = p.small ? 96 : 24576, per_line = width / STRIP;
    int strips = per_line * height;
    size_t n = (size_t)width * height;
    std::vector<unsigned char> scan(n), paper(height);
    lcg_fill(scan.data(), n, 1, 256);
    lcg_fill(paper.data(), height, 2, 120);
    for (unsigned char &limit : paper)
        limit = (unsigned char)(limit + 80);
    unsigned char *d_scan = device_copy_of(scan.data(), n), *d_paper = device_copy_of(paper.data(), height);
    unsigned *d_bits = device_array<unsigned>(strips);
    unsigned short *d_ink = device_array<unsigned short>(strips);
    int grid = (strips + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { binarise<<<grid, BLOCK>>>(d_scan, d_paper, d_bits, d_ink, strips, per_line); });
    std::vector<unsigned> bits = host_copy_of(d_bits, strips);
    std::vector<unsigned short> ink = host_copy_of(d_ink, strips);
    for (int s = 0; s < strips; s += p.small ? 1 : 7) {
        unsigned black = 0;
        int sum = 0;
        for (int k = 0; k < STRIP; k++) {
            int under = paper[s / per_line] - scan[STRIP * (size_t)s + k];
            black |= under > 0 ? 1u << k : 0;
            sum += std::max(under, 0);
        }
        pair_near(&p, "bits", s, black, bits[s], 0);
        pair_near(&p, "ink", s, sum, ink[s], 0);
    }
    return pair_end(&p);
}
