// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 32 x 8 threads instead of 32 x 1.
// Why: an SM holds 32 blocks at most, so blocks of one warp fill half of its warps and hide half as much latency.
#include "common.h"

#ifdef AFTER
enum { ROWS = 8 };
#else
enum { ROWS = 1 };
#endif
enum { COLUMNS = 32 };

// One step of Gaussian elimination (Rodinia's gaussian, Fan2): subtract multiples of the pivot row.
__global__ void gaussian(const float *matrix, const float *factor, float *out, int n) {
    int x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
    if (x < n && y < n)
        out[(size_t)y * n + x] = matrix[(size_t)y * n + x] - factor[y] * matrix[x];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gaussian");
    int n = p.small ? 1024 : 4096;
    std::vector<float> matrix = random_floats((size_t)n * n, -1, 1, 1), factor = random_floats(n, -1, 1, 2);
    float *d_matrix = device_copy_of(matrix.data(), matrix.size()), *d_factor = device_copy_of(factor.data(), n),
          *d_out = device_array<float>(matrix.size());
    dim3 grid((n + COLUMNS - 1) / COLUMNS, (n + ROWS - 1) / ROWS);
    pair_time(&p, [&] { gaussian<<<grid, dim3(COLUMNS, ROWS)>>>(d_matrix, d_factor, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, matrix.size());
    for (int y = 0; y < n; y += 7)
        for (int x = 0; x < n; x += 13)
            pair_near(&p, "out", (size_t)y * n + x, matrix[(size_t)y * n + x] - (double)factor[y] * matrix[x],
                      out[(size_t)y * n + x], 1e-5);
    return pair_end(&p);
}
