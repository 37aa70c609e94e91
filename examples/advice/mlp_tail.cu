// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: bias, activation and scaling are one kernel instead of three.
// Why: each of the three reads the whole array from memory and writes it back to do one operation on it.
#include "common.h"

enum { BLOCK = 256 };

static __host__ __device__ float activation(float x) { return x / (1.0f + expf(-1.702f * x)); }

[[maybe_unused]] __global__ void add_bias(const float *in, const float *bias, float *out, int columns, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = in[i] + bias[i % columns];
}

[[maybe_unused]] __global__ void activate(float *data, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        data[i] = activation(data[i]);
}

[[maybe_unused]] __global__ void rescale(float *data, const float *scale, int columns, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        data[i] *= scale[i % columns];
}

[[maybe_unused]] __global__ void merged(const float *in, const float *bias, const float *scale, float *out, int columns,
                                        int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = activation(in[i] + bias[i % columns]) * scale[i % columns];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mlp_tail");
    int columns = 1000, rows = p.small ? 600 : 60000, n = columns * rows, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> in = random_floats(n, -3, 3, 1), bias = random_floats(columns, -1, 1, 2),
                       scale = random_floats(columns, 0, 2, 3);
    float *d_in = device_copy_of(in.data(), n), *d_bias = device_copy_of(bias.data(), columns),
          *d_scale = device_copy_of(scale.data(), columns), *d_out = device_array<float>(n);
    pair_time(&p, [&] {
#ifdef AFTER
        merged<<<blocks, BLOCK>>>(d_in, d_bias, d_scale, d_out, columns, n);
#else
        add_bias<<<blocks, BLOCK>>>(d_in, d_bias, d_out, columns, n);
        activate<<<blocks, BLOCK>>>(d_out, n);
        rescale<<<blocks, BLOCK>>>(d_out, d_scale, columns, n);
#endif
    });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 97)
        pair_near(&p, "out", i, activation(in[i] + bias[i % columns]) * scale[i % columns], out[i], 1e-4);
    return pair_end(&p);
}
