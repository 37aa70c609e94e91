// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop down a column is unrolled eight times.
// Why: each turn waits for its own load; unrolled, eight loads are under way before the first is added.
#include "common.h"

enum { BLOCK = 128, PARTS = 8 };

// Weighted sums of the columns of a matrix, in PARTS pieces of neighbouring rows; the host adds the pieces.
__global__ void column_sum(const float *matrix, const float *weight, float *sums, int rows, int columns) {
    int column = blockIdx.x * BLOCK + threadIdx.x, first = blockIdx.y * (rows / PARTS), last = first + rows / PARTS;
    float sum = 0;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int row = first; row < last; row++)
        sum += weight[row] * matrix[(size_t)row * columns + column];
    sums[blockIdx.y * columns + column] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "column_sum");
    int rows = p.small ? 128 : 4096, columns = 16384;
    size_t n = (size_t)rows * columns;
    std::vector<float> matrix = random_floats(n, 0, 1, 1), weight = random_floats(rows, 0, 1, 2);
    float *d_matrix = device_copy_of(matrix.data(), n), *d_weight = device_copy_of(weight.data(), rows),
          *d_sums = device_array<float>(columns * PARTS);
    pair_time(&p,
              [&] { column_sum<<<dim3(columns / BLOCK, PARTS), BLOCK>>>(d_matrix, d_weight, d_sums, rows, columns); });
    std::vector<float> sums = host_copy_of(d_sums, columns * PARTS);
    for (int c = 0; c < columns; c += columns / 31) {
        double expected = 0, got = 0;
        for (int r = 0; r < rows; r++)
            expected += (double)weight[r] * matrix[(size_t)r * columns + c];
        for (int part = 0; part < PARTS; part++)
            got += sums[part * columns + c];
        pair_near(&p, "sum", c, expected, got, 1e-4);
    }
    return pair_end(&p);
}
