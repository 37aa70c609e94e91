// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the activation are floats: 0.5f, 1.0f, 0.044715f, 0.7978845608f.
// Why: with double constants half of the arithmetic is in double precision, with conversions there and back.
#include "../common.h"

enum { BLOCK = 256, WIDTH = 1024 };

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

// Bias and activation (GELU by tanh) after a layer of a transformer, in place of nothing: out of place.
__global__ void gelu(const float *in, const float *bias, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i] + bias[i % WIDTH];
    float inner = C(0.7978845608) * (x + C(0.044715) * x * x * x);
    out[i] = C(0.5) * x * (C(1.0) + tanhf(inner));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gelu");
    int n = p.small ? 1 << 18 : 1 << 24;
    std::vector<float> in = random_floats(n, -4, 4, 1), bias = random_floats(WIDTH, -1, 1, 2);
    float *d_in = device_copy_of(in.data(), n), *d_bias = device_copy_of(bias.data(), WIDTH),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { gelu<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_bias, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 37) {
        double x = in[i] + bias[i % WIDTH];
        pair_near(&p, "out", i, 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))), out[i], 1e-5);
    }
    return pair_end(&p);
}
