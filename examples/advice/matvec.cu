// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the matrix is stored by columns instead of by rows.
// Why: a thread has a row; stored by rows, the lanes of a warp read 32 different lines at a time.
#include "common.h"

enum { BLOCK = 128 };

__global__ void matvec(const float *matrix, const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < columns; c++)
#ifdef AFTER
        sum += matrix[(size_t)c * rows + row] * x[c];
#else
        sum += matrix[(size_t)row * columns + c] * x[c];
#endif
    y[row] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "matvec");
    int rows = 132 * (p.small ? 4 : 8) * BLOCK, columns = p.small ? 48 : 1000;
    std::vector<float> matrix = random_floats((size_t)rows * columns, -1, 1, 1), x = random_floats(columns, -1, 1, 2);
    float *d_matrix = device_copy_of(matrix.data(), matrix.size()), *d_x = device_copy_of(x.data(), columns),
          *d_y = device_array<float>(rows);
    pair_time(&p, [&] { matvec<<<rows / BLOCK, BLOCK>>>(d_matrix, d_x, d_y, rows, columns); });
    std::vector<float> y = host_copy_of(d_y, rows);
    for (int r = 0; r < rows; r += 101) {
        double sum = 0;
        for (int c = 0; c < columns; c++)
#ifdef AFTER
            sum += (double)matrix[(size_t)c * rows + r] * x[c];
#else
            sum += (double)matrix[(size_t)r * columns + c] * x[c];
#endif
        pair_near(&p, "y", r, sum, y[r], 1e-3);
    }
    return pair_end(&p);
}
