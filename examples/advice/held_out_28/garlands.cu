// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the four channels of a lamp are read and written as one ushort4.
// Why: a thread needs three accesses of 8 bytes in place of twelve of 2 bytes.
#include "../common.h"

enum { BLOCK = 128 };

__device__ unsigned short mix(unsigned from, unsigned to, unsigned level) {
    return (unsigned short)((from * (256 - level) + to * level + 128) >> 8);
}

// Light shows on garlands of RGBW lamps with 16 bits per channel: frame y of the show fades from one scene to another
// by its own level, and white is dimmed by the master.
__global__ void crossfade(const unsigned short *from, const unsigned short *to, const unsigned char *level,
                          unsigned short *out, int lamps, unsigned master) {
    int lamp = blockIdx.x * BLOCK + threadIdx.x;
    if (lamp >= lamps)
        return;
    unsigned f = level[blockIdx.y];
    size_t at = (size_t)blockIdx.y * lamps + lamp;
#ifdef AFTER
    ushort4 a = ((const ushort4 *)from)[at], b = ((const ushort4 *)to)[at];
#else
    ushort4 a = make_ushort4(from[4 * at], from[4 * at + 1], from[4 * at + 2], from[4 * at + 3]);
    ushort4 b = make_ushort4(to[4 * at], to[4 * at + 1], to[4 * at + 2], to[4 * at + 3]);
#endif
    ushort4 c = make_ushort4(mix(a.x, b.x, f), mix(a.y, b.y, f), mix(a.z, b.z, f), mix(a.w, b.w, f));
    c.w = (unsigned short)(c.w * master >> 8);
#ifdef AFTER
    ((ushort4 *)out)[at] = c;
#else
    out[4 * at] = c.x;
    out[4 * at + 1] = c.y;
    out[4 * at + 2] = c.z;
    out[4 * at + 3] = c.w;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "garlands");
    int lamps = p.small ? 700 : 17000, frames = p.small ? 5 : 400;
    unsigned master = 200;
    size_t count = (size_t)lamps * frames * 4;
    std::vector<unsigned short> from(count), to(count);
    std::vector<unsigned char> level(frames);
    lcg_fill(from.data(), count, 1, 1 << 16);
    lcg_fill(to.data(), count, 2, 1 << 16);
    lcg_fill(level.data(), frames, 3, 256);
    unsigned short *d_from = device_copy_of(from.data(), count), *d_to = device_copy_of(to.data(), count);
    unsigned char *d_level = device_copy_of(level.data(), frames);
    unsigned short *d_out = device_array<unsigned short>(count);
    dim3 grid((lamps + BLOCK - 1) / BLOCK, frames);
    pair_time(&p, [&] { crossfade<<<grid, BLOCK>>>(d_from, d_to, d_level, d_out, lamps, master); });
    std::vector<unsigned short> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += p.small ? 3 : 1001) {
        unsigned f = level[i / 4 / lamps];
        unsigned expected = (from[i] * (256 - f) + to[i] * f + 128) >> 8;
        pair_near(&p, "out", i, i % 4 == 3 ? expected * master >> 8 : expected, out[i], 0);
    }
    return pair_end(&p);
}
