// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes four neighbouring pixels with one access of four bytes instead of one pixel.
// Why: accesses of one byte move 32 bytes per warp and instruction where 128 fit; most instructions are overhead.
#include "common.h"

enum { BLOCK = 256 };

static __host__ __device__ unsigned char shade(unsigned char a, unsigned char b, int level) {
    int d = abs((int)a - (int)b);
    return (unsigned char)(d > level ? 255 : d);
}

// Difference of two frames with a threshold (motion detection).
__global__ void threshold(const unsigned char *first, const unsigned char *second, unsigned char *out, int n,
                          int level) {
#ifdef AFTER
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n / 4) {
        uchar4 a = ((const uchar4 *)first)[i], b = ((const uchar4 *)second)[i];
        ((uchar4 *)out)[i] =
            make_uchar4(shade(a.x, b.x, level), shade(a.y, b.y, level), shade(a.z, b.z, level), shade(a.w, b.w, level));
    }
#else
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = shade(first[i], second[i], level);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "threshold");
    int n = p.small ? 1 << 21 : 1 << 26;
#ifdef AFTER
    int threads = n / 4;
#else
    int threads = n;
#endif
    std::vector<unsigned char> first(n), second(n);
    lcg_fill(first.data(), n, 1, 256);
    lcg_fill(second.data(), n, 2, 256);
    unsigned char *d_first = device_copy_of(first.data(), n), *d_second = device_copy_of(second.data(), n),
                  *d_out = device_array<unsigned char>(n);
    pair_time(&p, [&] { threshold<<<threads / BLOCK, BLOCK>>>(d_first, d_second, d_out, n, 40); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 7)
        pair_near(&p, "out", i, shade(first[i], second[i], 40), out[i], 0);
    return pair_end(&p);
}
