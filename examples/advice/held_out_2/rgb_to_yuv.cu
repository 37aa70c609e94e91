// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a thread takes four pixels with three accesses of four bytes each way, instead of one pixel byte by byte.
// Why: a pixel is three loads and three stores of one byte each; instructions and the L1 are the limit.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ void convert(const unsigned char *rgb, unsigned char *yuv) {
    int r = rgb[0], g = rgb[1], b = rgb[2];
    yuv[0] = (unsigned char)((66 * r + 129 * g + 25 * b + 4224) >> 8);
    yuv[1] = (unsigned char)((-38 * r - 74 * g + 112 * b + 32896) >> 8);
    yuv[2] = (unsigned char)((112 * r - 94 * g - 18 * b + 32896) >> 8);
}

__global__ void rgb_to_yuv(const unsigned char *in, unsigned char *out, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i >= pixels / 4)
        return;
    union {
        unsigned word[3];
        unsigned char byte[12];
    } from, to;
    for (int k = 0; k < 3; k++)
        from.word[k] = ((const unsigned *)in)[i * 3 + k];
    for (int k = 0; k < 4; k++)
        convert(from.byte + 3 * k, to.byte + 3 * k);
    for (int k = 0; k < 3; k++)
        ((unsigned *)out)[i * 3 + k] = to.word[k];
#else
    if (i < pixels)
        convert(in + 3 * i, out + 3 * i);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rgb_to_yuv");
    int pixels = p.small ? 1 << 18 : 1 << 24;
    std::vector<unsigned char> in(3 * (size_t)pixels);
    lcg_fill(in.data(), in.size(), 1, 256);
    unsigned char *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<unsigned char>(in.size());
#ifdef AFTER
    int threads = pixels / 4;
#else
    int threads = pixels;
#endif
    pair_time(&p, [&] { rgb_to_yuv<<<threads / BLOCK, BLOCK>>>(d_in, d_out, pixels); });
    std::vector<unsigned char> out = host_copy_of(d_out, in.size());
    for (size_t i = 0; i < in.size(); i += 3 * 17) {
        unsigned char expected[3];
        convert(&in[i], expected);
        for (int k = 0; k < 3; k++)
            pair_near(&p, "out", i + k, expected[k], out[i + k], 0);
    }
    return pair_end(&p);
}
