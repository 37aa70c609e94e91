// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a complex number is one access of eight bytes instead of two accesses of four.
// Why: real and imaginary parts lie side by side; read one by one, each access of a warp spans twice the lines it uses.
#include "common.h"

enum { BLOCK = 256, SHIFTS = 8 };

// Cross spectrum averaged over SHIFTS frames: sum of conj(a) b for each frequency (signal processing behind an FFT).
__global__ void cross_spectrum(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float re = 0, im = 0;
    for (int s = 0; s < SHIFTS; s++) {
        size_t at = (size_t)s * n + i;
#ifdef AFTER
        float2 p = ((const float2 *)a)[at], q = ((const float2 *)b)[at];
#else
        float2 p = make_float2(a[2 * at], a[2 * at + 1]), q = make_float2(b[2 * at], b[2 * at + 1]);
#endif
        re += p.x * q.x + p.y * q.y;
        im += p.x * q.y - p.y * q.x;
    }
#ifdef AFTER
    ((float2 *)out)[i] = make_float2(re, im);
#else
    out[2 * i] = re;
    out[2 * i + 1] = im;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "spectrum");
    int n = p.small ? 132 * 256 : 1 << 18;
    size_t all = (size_t)2 * SHIFTS * n;
    std::vector<float> a = random_floats(all, -1, 1, 1), b = random_floats(all, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), all), *d_b = device_copy_of(b.data(), all),
          *d_out = device_array<float>(2 * n);
    pair_time(&p, [&] { cross_spectrum<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_a, d_b, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, 2 * n);
    for (int i = 0; i < n; i += 31) {
        double re = 0, im = 0;
        for (int s = 0; s < SHIFTS; s++) {
            const float *x = &a[2 * ((size_t)s * n + i)], *y = &b[2 * ((size_t)s * n + i)];
            re += (double)x[0] * y[0] + (double)x[1] * y[1];
            im += (double)x[0] * y[1] - (double)x[1] * y[0];
        }
        pair_near(&p, "re", i, re, out[2 * i], 1e-4);
        pair_near(&p, "im", i, im, out[2 * i + 1], 1e-4);
    }
    return pair_end(&p);
}
