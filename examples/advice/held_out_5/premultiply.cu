// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the four bytes of a pixel are loaded and stored as one uchar4.
// Why: seven accesses move one byte of each lane.
#include "../common.h"

enum { BLOCK = 256 };

// Colours times opacity, 8 bits each.
__global__ void premultiply(const unsigned char *in, unsigned char *out) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    uchar4 p = ((const uchar4 *)in)[i];
    p.x = (p.x * p.w + 127) / 255;
    p.y = (p.y * p.w + 127) / 255;
    p.z = (p.z * p.w + 127) / 255;
    ((uchar4 *)out)[i] = p;
#else
    int a = in[4 * i + 3];
    for (int c = 0; c < 3; c++)
        out[4 * i + c] = (in[4 * i + c] * a + 127) / 255;
    out[4 * i + 3] = a;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "premultiply");
    int n = p.small ? 1 << 15 : 1 << 23;
    std::vector<unsigned char> in(4 * (size_t)n);
    unsigned seed = 1;
    for (unsigned char &b : in)
        b = (unsigned char)lcg_next(&seed, 256);
    unsigned char *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<unsigned char>(in.size());
    pair_time(&p, [&] { premultiply<<<n / BLOCK, BLOCK>>>(d_in, d_out); });
    std::vector<unsigned char> out = host_copy_of(d_out, in.size());
    for (size_t i = 0; i < in.size(); i += 1009)
        pair_near(&p, "out", i, i % 4 == 3 ? in[i] : (in[i] * in[i / 4 * 4 + 3] + 127) / 255, out[i], 0);
    return pair_end(&p);
}
