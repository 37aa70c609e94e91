// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for 4 resident blocks of 128 threads instead of 12.
// Why: 12 blocks leave 40 registers to a thread whose matrix needs 70; the rest goes to local memory and comes back.
#include "common.h"

enum { N = 7, BLOCK = 128 };
#ifdef AFTER
enum { MIN_BLOCKS = 4 };
#else
enum { MIN_BLOCKS = 12 };
#endif

// Solves a small dense system per thread by elimination (implicit chemistry, block Jacobi preconditioner).
__global__ void __launch_bounds__(BLOCK, MIN_BLOCKS)
    block_solve(const float *matrices, const float *right, float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float a[N][N], b[N];
#pragma unroll
    for (int r = 0; r < N; r++) {
        b[r] = right[(size_t)r * n + i];
#pragma unroll
        for (int c = 0; c < N; c++)
            a[r][c] = matrices[(size_t)(r * N + c) * n + i];
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        float inverse = 1.0f / a[k][k];
#pragma unroll
        for (int r = k + 1; r < N; r++) {
            float f = a[r][k] * inverse;
#pragma unroll
            for (int c = k + 1; c < N; c++)
                a[r][c] -= f * a[k][c];
            b[r] -= f * b[k];
        }
    }
#pragma unroll
    for (int r = N - 1; r >= 0; r--) {
#pragma unroll
        for (int c = r + 1; c < N; c++)
            b[r] -= a[r][c] * b[c];
        b[r] /= a[r][r];
        x[(size_t)r * n + i] = b[r];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "block_solve");
    int n = p.small ? 132 * 512 : 1 << 20;
    std::vector<float> matrices = random_floats((size_t)N * N * n, -1, 1, 1),
                       right = random_floats((size_t)N * n, -1, 1, 2);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < n; i++)
            matrices[(size_t)(k * N + k) * n + i] += 2 * N;
    float *d_matrices = device_copy_of(matrices.data(), matrices.size()),
          *d_right = device_copy_of(right.data(), right.size()), *d_x = device_array<float>(right.size());
    pair_time(&p, [&] { block_solve<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_matrices, d_right, d_x, n); });
    std::vector<float> x = host_copy_of(d_x, right.size());
    for (int i = 0; i < n; i += 31)
        for (int r = 0; r < N; r++) {
            double sum = 0;
            for (int c = 0; c < N; c++)
                sum += (double)matrices[(size_t)(r * N + c) * n + i] * x[(size_t)c * n + i];
            pair_near(&p, "residual", i, right[(size_t)r * n + i], sum, 1e-4);
        }
    return pair_end(&p);
}
