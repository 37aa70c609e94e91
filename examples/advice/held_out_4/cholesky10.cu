// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for 3 resident CTAs of 256 threads instead of 6.
// Why: 40 registers do not hold the 55 elements of a matrix.
#include "../common.h"

enum { BLOCK = 256, N = 10, ELEMENTS = N * (N + 1) / 2 };

#ifdef AFTER
#define RESIDENT 3
#else
#define RESIDENT 6
#endif

static __host__ __device__ int place(int row, int column) { return row * (row + 1) / 2 + column; }

// Log-determinants of many small covariance matrices by Cholesky's decomposition; matrices are interleaved.
__global__ void __launch_bounds__(BLOCK, RESIDENT) cholesky10(const float *matrices, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float l[ELEMENTS], product = 1;
#pragma unroll
    for (int e = 0; e < ELEMENTS; e++)
        l[e] = matrices[(size_t)e * n + i];
#pragma unroll
    for (int j = 0; j < N; j++) {
#pragma unroll
        for (int k = 0; k < j; k++)
            l[place(j, j)] -= l[place(j, k)] * l[place(j, k)];
        product *= l[place(j, j)];
        float scale = rsqrtf(l[place(j, j)]);
#pragma unroll
        for (int r = j + 1; r < N; r++) {
#pragma unroll
            for (int k = 0; k < j; k++)
                l[place(r, j)] -= l[place(r, k)] * l[place(j, k)];
            l[place(r, j)] *= scale;
        }
    }
    out[i] = logf(product);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cholesky10");
    int n = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> matrices = random_floats((size_t)ELEMENTS * n, -0.5f, 0.5f, 1);
    for (int d = 0; d < N; d++)
        for (int i = 0; i < n; i++)
            matrices[(size_t)place(d, d) * n + i] += 4;
    float *d_matrices = device_copy_of(matrices.data(), matrices.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { cholesky10<<<n / BLOCK, BLOCK>>>(d_matrices, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 307) {
        double a[N][N], product = 1;
        for (int r = 0; r < N; r++)
            for (int c = 0; c <= r; c++)
                a[r][c] = a[c][r] = matrices[(size_t)place(r, c) * n + i];
        for (int j = 0; j < N; j++) {
            product *= a[j][j];
            for (int r = j + 1; r < N; r++)
                for (int c = N - 1; c >= j; c--)
                    a[r][c] -= a[r][j] / a[j][j] * a[j][c];
        }
        pair_near(&p, "logdet", i, log(product), out[i], 1e-4);
    }
    return pair_end(&p);
}
