// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: indirect-addressing
// Change: rows are exchanged by selects at fixed places, instead of being taken through an index of rows.
// Why: an array indexed by a number found at run time has to be in local memory.
#include "../common.h"

enum { BLOCK = 128, N = 4 };

// Solves 4 x 4 systems by elimination with pivots, one to a thread. Systems are stored word by word.
__global__ void pivots(const float *systems, float *solutions, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float a[N][N + 1];
#pragma unroll
    for (int w = 0; w < N * (N + 1); w++)
        a[w / (N + 1)][w % (N + 1)] = systems[(size_t)w * count + i];
#ifdef AFTER
#pragma unroll
    for (int k = 0; k < N; k++) {
#pragma unroll
        for (int r = k + 1; r < N; r++) {
            bool larger = fabsf(a[r][k]) > fabsf(a[k][k]);
#pragma unroll
            for (int c = 0; c <= N; c++) {
                float x = a[k][c], y = a[r][c];
                a[k][c] = larger ? y : x;
                a[r][c] = larger ? x : y;
            }
        }
#pragma unroll
        for (int r = k + 1; r < N; r++) {
            float f = a[r][k] / a[k][k];
#pragma unroll
            for (int c = 0; c <= N; c++)
                a[r][c] -= f * a[k][c];
        }
    }
#define ROW(k) k
#else
    int row[N] = {0, 1, 2, 3};
    for (int k = 0; k < N; k++) {
        for (int r = k + 1; r < N; r++)
            if (fabsf(a[row[r]][k]) > fabsf(a[row[k]][k])) {
                int other = row[r];
                row[r] = row[k];
                row[k] = other;
            }
        for (int r = k + 1; r < N; r++) {
            float f = a[row[r]][k] / a[row[k]][k];
            for (int c = 0; c <= N; c++)
                a[row[r]][c] -= f * a[row[k]][c];
        }
    }
#define ROW(k) row[k]
#endif
    float x[N];
#pragma unroll
    for (int k = N - 1; k >= 0; k--) {
        float sum = a[ROW(k)][N];
#pragma unroll
        for (int c = k + 1; c < N; c++)
            sum -= a[ROW(k)][c] * x[c];
        x[k] = sum / a[ROW(k)][k];
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        solutions[(size_t)k * count + i] = x[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pivots");
    int count = p.small ? 132 * 128 : 1 << 20, words = N * (N + 1);
    std::vector<float> systems = random_floats((size_t)words * count, -1, 1, 1);
    float *d_systems = device_copy_of(systems.data(), systems.size()), *d_x = device_array<float>((size_t)N * count);
    pair_time(&p, [&] { pivots<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_systems, d_x, count); });
    std::vector<float> x = host_copy_of(d_x, (size_t)N * count);
    for (int i = 0; i < count; i += 17)
        for (int r = 0; r < N; r++) {
            double left = 0, scale = 1;
            for (int c = 0; c < N; c++) {
                left += (double)systems[(size_t)(r * (N + 1) + c) * count + i] * x[(size_t)c * count + i];
                scale += fabs(x[(size_t)c * count + i]);
            }
            double error = (left - systems[(size_t)(r * (N + 1) + N) * count + i]) / scale;
            if (scale < 1000)  // others are singular, or nearly so
                pair_near(&p, "equation", (size_t)i * N + r, 0, error, 1e-3);
        }
    return pair_end(&p);
}
