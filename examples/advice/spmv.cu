// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: rows are dealt to the blocks in turn instead of in runs of neighbours.
// Why: rows of a graph sorted by degree are long at the front; the SMs that get the first blocks finish last.
#include "common.h"

enum { BLOCK = 256, WARP = 32, BLOCKS = 132 * 8, WARPS = BLOCK / WARP };

// y = M x for a graph sorted by degree, a row per warp, a fixed number of blocks.
__global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int rows) {
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, share = rows / BLOCKS;
    for (int k = warp; k < share; k += WARPS) {
#ifdef AFTER
        int r = k * BLOCKS + blockIdx.x;
#else
        int r = blockIdx.x * share + k;
#endif
        float sum = 0;
        for (int i = row[r] + lane; i < row[r + 1]; i += WARP)
            sum += val[i] * x[col[i]];
        for (int d = WARP / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0)
            y[r] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "spmv");
    int rows = BLOCKS * (p.small ? 8 : 256);
    std::vector<int> row(1, 0), col;
    unsigned seed = 1;
    for (int r = 0; r < rows; r++) {
        int length = 16 + (int)(64 / sqrt((r + 1.0) / rows + 0.002));
        for (int i = 0; i < length; i++)
            col.push_back((int)(lcg_next(&seed, 1 << 20) % rows));
        row.push_back((int)col.size());
    }
    std::vector<float> val = random_floats(col.size(), -1, 1, 2), x = random_floats(rows, -1, 1, 3);
    int *d_row = device_copy_of(row.data(), row.size()), *d_col = device_copy_of(col.data(), col.size());
    float *d_val = device_copy_of(val.data(), val.size()), *d_x = device_copy_of(x.data(), rows),
          *d_y = device_array<float>(rows);
    pair_time(&p, [&] { spmv<<<BLOCKS, BLOCK>>>(d_row, d_col, d_val, d_x, d_y, rows); });
    std::vector<float> y = host_copy_of(d_y, rows);
    for (int r = 0; r < rows; r += 7) {
        double sum = 0;
        for (int i = row[r]; i < row[r + 1]; i++)
            sum += (double)val[i] * x[col[i]];
        pair_near(&p, "y", r, sum, y[r], 1e-3);
    }
    return pair_end(&p);
}
