// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a pixel is declared to be aligned to its four bytes.
// Why: then its four bytes are one access; as bytes of unknown alignment they are four, and four partial writes.
#include "../common.h"

#ifdef AFTER
#define PIXEL_ALIGNMENT __align__(4)
#else
#define PIXEL_ALIGNMENT
#endif

struct PIXEL_ALIGNMENT Ink {
    unsigned char cyan, magenta, yellow, black;
};

struct PIXEL_ALIGNMENT Colour {
    unsigned char red, green, blue, warning;
};

// x * y / 255, rounded, for x and y up to 255.
__device__ int times(int x, int y) {
    const int product = x * y + 128;
    return (product + (product >> 8)) >> 8;
}

// Dots of ink grow on uncoated paper, those in the middle of the scale most: by gain / 1024 of 255 at half cover.
__device__ int grown(int cover, int gain) { return cover + (cover * (255 - cover) * gain >> 16); }

// How a page will look in print, with a mark where it would get more ink than the paper can carry.
__global__ void zines(const Ink *__restrict__ page, Colour *__restrict__ proof, int width, int height, int gain,
                      int limit) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const Ink ink = page[y * width + x];
    const int total = ink.cyan + ink.magenta + ink.yellow + ink.black;
    const int paper = 255 - grown(ink.black, gain);
    Colour colour;
    colour.red = times(250, times(255 - grown(ink.cyan, gain), paper));
    colour.green = times(246, times(255 - grown(ink.magenta, gain), paper));
    colour.blue = times(232, times(255 - grown(ink.yellow, gain), paper));
    colour.warning = total > limit ? 255 : 0;
    proof[y * width + x] = colour;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zines");
    const int width = p.small ? 150 : 4961, height = p.small ? 70 : 7016;  // A4 at 600 dots per inch
    const int gain = 52, limit = 260 * 255 / 100;
    const size_t n = (size_t)width * height;

    // Blocks of black text between soft pictures.
    std::vector<Ink> page(n);
    unsigned seed = 1977;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned grain = lcg_next(&seed, 1 << 24);
            Ink &ink = page[(size_t)y * width + x];
            if (x / 50 % 3 == 0)
                ink = {0, 0, 0, (unsigned char)(grain % 5 ? 0 : 255)};
            else
                ink = {(unsigned char)(x + (grain & 31)), (unsigned char)(y + (grain >> 8 & 31)),
                       (unsigned char)((x + y) / 2 + (grain >> 16 & 31)), (unsigned char)(grain >> 17)};
        }

    Ink *d_page = device_copy_of(page.data(), n);
    Colour *d_proof = device_array<Colour>(n);
    const dim3 block(64, 4), grid((width + 63) / 64, (height + 3) / 4);
    pair_time(&p, [&] { zines<<<grid, block>>>(d_page, d_proof, width, height, gain, limit); });

    std::vector<Colour> proof = host_copy_of(d_proof, n);
    auto cover = [&](int c) { return c + floor(c * (255.0 - c) * gain / 65536); };
    auto mix = [&](double a, double b) { return floor(a * b / 255 + 0.5); };
    for (size_t i = 0; i < n; i += p.small ? 3 : 1999) {
        const Ink &ink = page[i];
        const double paper = 255 - cover(ink.black);
        pair_near(&p, "red", i, mix(250, mix(255 - cover(ink.cyan), paper)), proof[i].red, 1e-9);
        pair_near(&p, "green", i, mix(246, mix(255 - cover(ink.magenta), paper)), proof[i].green, 1e-9);
        pair_near(&p, "blue", i, mix(232, mix(255 - cover(ink.yellow), paper)), proof[i].blue, 1e-9);
        const int total = ink.cyan + ink.magenta + ink.yellow + ink.black;
        pair_near(&p, "warning", i, total > limit ? 255 : 0, proof[i].warning, 1e-9);
    }
    return pair_end(&p);
}
