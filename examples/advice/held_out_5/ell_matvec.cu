// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the elements of a row is unrolled eight times.
// Why: each turn waits for its column, then for its element of x, and only then does the next one start.
#include "../common.h"

enum { BLOCK = 128 };

// Sparse matrix of equally long rows (ELLPACK) times a vector.
__global__ void ell_matvec(const float *values, const int *columns, const float *x, float *y, int rows, int width) {
    int r = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int k = 0; k < width; k++)
        sum += values[(size_t)k * rows + r] * x[columns[(size_t)k * rows + r]];
    y[r] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ell_matvec");
    int rows = p.small ? 1 << 12 : 1 << 17, width = p.small ? 16 : 64;
    size_t all = (size_t)rows * width;
    std::vector<float> values = random_floats(all, -1, 1, 1), x = random_floats(rows, -1, 1, 2);
    std::vector<int> columns(all);
    unsigned seed = 3;
    for (size_t s = 0; s < all; s++)
        columns[s] = (int)((s % rows + lcg_next(&seed, 512)) % rows);
    float *d_values = device_copy_of(values.data(), all), *d_x = device_copy_of(x.data(), rows),
          *d_y = device_array<float>(rows);
    int *d_columns = device_copy_of(columns.data(), all);
    pair_time(&p, [&] { ell_matvec<<<rows / BLOCK, BLOCK>>>(d_values, d_columns, d_x, d_y, rows, width); });
    std::vector<float> y = host_copy_of(d_y, rows);
    for (int r = 0; r < rows; r += 101) {
        double sum = 0;
        for (int k = 0; k < width; k++)
            sum += values[(size_t)k * rows + r] * x[columns[(size_t)k * rows + r]];
        pair_near(&p, "y", r, sum, y[r], 1e-4);
    }
    return pair_end(&p);
}
