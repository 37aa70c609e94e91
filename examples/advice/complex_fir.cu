// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a complex sample is read with one access of eight bytes instead of two of four.
// Why: real and imaginary parts lie side by side; read one by one, each access of a warp spans twice the lines it uses.
#include "common.h"

enum { BLOCK = 256, TAPS = 48 };

__constant__ float2 c_taps[TAPS];

// Complex FIR filter (the channel filter of a receiver): out[i] = sum of taps[k] in[i + k].
__global__ void complex_fir(const float *in, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float re = 0, im = 0;
#pragma unroll 8
    for (int k = 0; k < TAPS; k++) {
#ifdef AFTER
        float2 s = ((const float2 *)in)[i + k];
#else
        float2 s = make_float2(in[2 * (i + k)], in[2 * (i + k) + 1]);
#endif
        re += c_taps[k].x * s.x - c_taps[k].y * s.y;
        im += c_taps[k].x * s.y + c_taps[k].y * s.x;
    }
    ((float2 *)out)[i] = make_float2(re, im);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "complex_fir");
    int n = p.small ? 132 * 4 * BLOCK : 1 << 24;
    std::vector<float> in = random_floats(2 * (n + TAPS), -1, 1, 1), taps = random_floats(2 * TAPS, -1, 1, 2);
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps.data(), sizeof c_taps));
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(2 * (size_t)n);
    pair_time(&p, [&] { complex_fir<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, 2 * (size_t)n);
    for (int i = 0; i < n; i += n / 997) {
        double re = 0, im = 0;
        for (int k = 0; k < TAPS; k++) {
            const float *s = &in[2 * (i + k)], *t = &taps[2 * k];
            re += (double)t[0] * s[0] - (double)t[1] * s[1];
            im += (double)t[0] * s[1] + (double)t[1] * s[0];
        }
        pair_near(&p, "re", i, re, out[2 * i], 1e-4);
        pair_near(&p, "im", i, im, out[2 * i + 1], 1e-4);
    }
    return pair_end(&p);
}
