// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the bytes of a block are put together in shared memory and written as whole words.
// Why: each thread writes its six bytes one by one; every store of a warp touches the same sectors as the next five.
// Also: vectorised-access
#include "../common.h"

enum { BLOCK = 256, BYTES = 6, WORDS = BLOCK * BYTES / 4 };

__host__ __device__ inline unsigned day_level(unsigned colour, unsigned glare, unsigned balance) {
    unsigned level = colour * (192 + glare / 2) * balance >> 15;
    return level > 255 ? 255 : level;
}

__host__ __device__ inline unsigned night_level(unsigned colour, unsigned glare, unsigned balance) {
    return colour * colour * (64 + glare / 4) * (balance >> 3) >> 19;
}

// The picture for a light-emitting billboard: red, green and blue as driven by day, and then as driven by night.
__global__ void drive(const uchar4 *picture, unsigned char *levels) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    uchar4 pixel = picture[i];  // the fourth: how much glare there is
    unsigned day_red = day_level(pixel.x, pixel.w, 128), night_red = night_level(pixel.x, pixel.w, 128);
    unsigned day_green = day_level(pixel.y, pixel.w, 112), night_green = night_level(pixel.y, pixel.w, 112);
    unsigned day_blue = day_level(pixel.z, pixel.w, 120), night_blue = night_level(pixel.z, pixel.w, 120);
#ifdef AFTER
    __shared__ unsigned words[WORDS];
    unsigned char *bytes = (unsigned char *)words + threadIdx.x * BYTES;
#else
    unsigned char *bytes = levels + i * BYTES;
#endif
    bytes[0] = day_red;
    bytes[1] = day_green;
    bytes[2] = day_blue;
    bytes[3] = night_red;
    bytes[4] = night_green;
    bytes[5] = night_blue;
#ifdef AFTER
    __syncthreads();
    unsigned *block = (unsigned *)levels + (size_t)blockIdx.x * WORDS;
    for (int w = threadIdx.x; w < WORDS; w += BLOCK)
        block[w] = words[w];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "billboards");
    int blocks = p.small ? 12 : 132 * 480;
    size_t n = (size_t)blocks * BLOCK;
    std::vector<uchar4> picture(n);
    unsigned seed = 1;
    for (uchar4 &pixel : picture) {
        unsigned colours = lcg_next(&seed, 1 << 20), rest = lcg_next(&seed, 1 << 16);
        pixel = make_uchar4(colours & 255, colours >> 8 & 255, rest & 255, rest >> 8);
    }
    uchar4 *d_picture = device_copy_of(picture.data(), n);
    unsigned char *d_levels = device_array<unsigned char>(n * BYTES);
    pair_time(&p, [&] { drive<<<blocks, BLOCK>>>(d_picture, d_levels); });
    std::vector<unsigned char> levels = host_copy_of(d_levels, n * BYTES);
    const unsigned balances[3] = {128, 112, 120};
    for (size_t i = 0; i < n; i += p.small ? 1 : 23) {
        unsigned colours[3] = {picture[i].x, picture[i].y, picture[i].z};
        for (int c = 0; c < 3; c++) {
            pair_near(&p, "day", i, day_level(colours[c], picture[i].w, balances[c]), levels[i * BYTES + c], 0);
            pair_near(&p, "night", i, night_level(colours[c], picture[i].w, balances[c]), levels[i * BYTES + 3 + c], 0);
        }
    }
    return pair_end(&p);
}
