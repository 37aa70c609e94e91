// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the four pixels of a thread are loaded and stored as one uchar4 each.
// Why: a thread asks for every byte on its own; four requests fetch what is one word.
#include "../common.h"

enum { BLOCK = 128, PIXELS = 4 };

__host__ __device__ static inline unsigned char developed(int first, int second, int share, int bright) {
    int both = (first * share + second * (256 - share) + 128) >> 8;  // two exposures of one print
    int lit = both * bright >> 8;                                    // darker towards the corners
    int curve = lit * (512 - lit) >> 8;                              // and the soft shoulder of the paper
    return (unsigned char)(curve < 255 ? curve : 255);
}

__host__ __device__ static inline int brightness(int x, int y, int width, int height) {
    int dx = (2 * x - width) / 16, dy = (2 * y - height) / 16;
    int dark = (dx * dx + dy * dy) / ((width + height) / 4);
    return 256 - (dark < 160 ? dark : 160);
}

// Scans of old prints are put together and made to look as they were meant to.
__global__ void restore(const unsigned char *first, const unsigned char *second, unsigned char *out, int width,
                        int height, int share) {
    int x = (blockIdx.x * BLOCK + threadIdx.x) * PIXELS, y = blockIdx.y;
    if (x >= width)
        return;
    size_t at = (size_t)y * width + x;
    int bright = brightness(x, y, width, height);  // the same for all four
#ifdef AFTER
    uchar4 a = *(const uchar4 *)(first + at), b = *(const uchar4 *)(second + at), r;
    r.x = developed(a.x, b.x, share, bright);
    r.y = developed(a.y, b.y, share, bright);
    r.z = developed(a.z, b.z, share, bright);
    r.w = developed(a.w, b.w, share, bright);
    *(uchar4 *)(out + at) = r;
#else
    for (int k = 0; k < PIXELS; k++)
        out[at + k] = developed(first[at + k], second[at + k], share, bright);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "polaroids");
    int width = p.small ? 512 : 4096, height = p.small ? 8 : 8192, share = 150;
    size_t n = (size_t)width * height;
    std::vector<unsigned char> first(n), second(n);
    lcg_fill(first.data(), n, 1, 256);
    lcg_fill(second.data(), n, 2, 256);
    unsigned char *d_first = device_copy_of(first.data(), n), *d_second = device_copy_of(second.data(), n),
                  *d_out = device_array<unsigned char>(n);
    dim3 grid((width / PIXELS + BLOCK - 1) / BLOCK, height);
    pair_time(&p, [&] { restore<<<grid, BLOCK>>>(d_first, d_second, d_out, width, height, share); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (size_t at = 0; at < n; at += p.small ? 1 : 7) {
        int x = (int)(at % width) / PIXELS * PIXELS, y = (int)(at / width);
        int bright = brightness(x, y, width, height);
        pair_near(&p, "pixel", at, developed(first[at], second[at], share, bright), out[at], 1e-9);
    }
    return pair_end(&p);
}
