// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop along a row of weights is unrolled sixteen times.
// Why: two CTAs are on an SM, and the compiler keeps but a few loads under way.
#include "../common.h"

enum { BLOCK = 256 };

// A matrix of signed bytes times a vector of them; four numbers of a row lie in a word, words of neighbouring rows
// beside each other.
__global__ void quant_gemv(const int *weights, const int *x, float *out, int rows, int words, float scale) {
    int row = blockIdx.x * BLOCK + threadIdx.x, sum = 0;
#ifdef AFTER
#pragma unroll 16
#endif
    for (int k = 0; k < words; k++)
        sum = __dp4a(weights[k * rows + row], x[k], sum);
    out[row] = scale * sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quant_gemv");
    int rows = p.small ? 2048 : 1 << 16, words = p.small ? 64 : 512;
    std::vector<int> weights((size_t)rows * words), x(words);
    lcg_fill((unsigned char *)weights.data(), 4 * weights.size(), 1, 256);
    lcg_fill((unsigned char *)x.data(), 4 * x.size(), 2, 256);
    int *d_weights = device_copy_of(weights.data(), weights.size()), *d_x = device_copy_of(x.data(), words);
    float *d_out = device_array<float>(rows);
    pair_time(&p, [&] { quant_gemv<<<rows / BLOCK, BLOCK>>>(d_weights, d_x, d_out, rows, words, 0.01f); });
    std::vector<float> out = host_copy_of(d_out, rows);
    for (int row = 0; row < rows; row += 97) {
        int sum = 0;
        for (int k = 0; k < words; k++)
            for (int b = 0; b < 4; b++)
                sum += ((const signed char *)&weights[(size_t)k * rows + row])[b] * ((const signed char *)&x[k])[b];
        pair_near(&p, "out", row, 0.01 * sum, out[row], 1e-5);
    }
    return pair_end(&p);
}
