// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: the four characters of a group are stored as one uchar4.
// Why: each store moves but a byte for each lane.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ unsigned char letter(unsigned six) {
    return six < 26 ? 'A' + six : six < 52 ? 'a' + six - 26 : six < 62 ? '0' + six - 52 : six == 62 ? '+' : '/';
}

// Groups of three bytes become four characters.
__global__ void base64(const unsigned char *in, unsigned char *out, int groups) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= groups)
        return;
    unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
#ifdef AFTER
    ((uchar4 *)out)[i] =
        make_uchar4(letter(bits >> 18), letter(bits >> 12 & 63), letter(bits >> 6 & 63), letter(bits & 63));
#else
    out[4 * i] = letter(bits >> 18);
    out[4 * i + 1] = letter(bits >> 12 & 63);
    out[4 * i + 2] = letter(bits >> 6 & 63);
    out[4 * i + 3] = letter(bits & 63);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "base64");
    int groups = p.small ? 1 << 15 : 1 << 24;
    std::vector<unsigned char> in(3 * (size_t)groups);
    lcg_fill(in.data(), in.size(), 1, 256);
    unsigned char *d_in = device_copy_of(in.data(), in.size()),
                  *d_out = device_array<unsigned char>(4 * (size_t)groups);
    pair_time(&p, [&] { base64<<<groups / BLOCK, BLOCK>>>(d_in, d_out, groups); });
    std::vector<unsigned char> out = host_copy_of(d_out, 4 * (size_t)groups);
    for (int i = 0; i < groups; i += 1009) {
        unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
        for (int k = 0; k < 4; k++)
            pair_near(&p, "letter", 4 * i + k, letter(bits >> (18 - 6 * k) & 63), out[4 * i + k], 0);
    }
    return pair_end(&p);
}
