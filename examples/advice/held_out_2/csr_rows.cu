// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: a warp takes a row of the sparse matrix, its lanes neighbouring entries, instead of a thread each row.
// Why: lanes that are rows apart read entries and columns that lie 64 entries apart, a sector for each.
#include "../common.h"

enum { BLOCK = 256, PER_ROW = 64 };

// Sparse matrix (CSR) times vector.
__global__ void csr_rows(const int *starts, const int *columns, const float *values, const float *x, float *y,
                         int rows) {
#ifdef AFTER
    int row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32, step = 32;
#else
    int row = blockIdx.x * BLOCK + threadIdx.x, lane = 0, step = 1;
#endif
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += step)
        sum += values[k] * x[columns[k]];
#ifdef AFTER
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
#endif
    if (lane == 0)
        y[row] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "csr_rows");
    int rows = p.small ? 1 << 13 : 1 << 18, entries = rows * PER_ROW;
    std::vector<int> starts(rows + 1), columns(entries);
    unsigned seed = 3;
    for (int i = 0; i <= rows; i++)
        starts[i] = i * PER_ROW;
    for (int k = 0; k < entries; k++)  // near the diagonal
        columns[k] = (k / PER_ROW + (int)lcg_next(&seed, 2048)) % rows;
    std::vector<float> values = random_floats(entries, -1, 1, 1), x = random_floats(rows, -1, 1, 2);
    int *d_starts = device_copy_of(starts.data(), rows + 1), *d_columns = device_copy_of(columns.data(), entries);
    float *d_values = device_copy_of(values.data(), entries), *d_x = device_copy_of(x.data(), rows),
          *d_y = device_array<float>(rows);
#ifdef AFTER
    int blocks = rows / (BLOCK / 32);
#else
    int blocks = rows / BLOCK;
#endif
    pair_time(&p, [&] { csr_rows<<<blocks, BLOCK>>>(d_starts, d_columns, d_values, d_x, d_y, rows); });
    std::vector<float> y = host_copy_of(d_y, rows);
    for (int row = 0; row < rows; row += 11) {
        double sum = 0;
        for (int k = starts[row]; k < starts[row + 1]; k++)
            sum += (double)values[k] * x[columns[k]];
        pair_near(&p, "y", row, sum, y[row], 1e-4);
    }
    return pair_end(&p);
}
