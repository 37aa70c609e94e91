// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the four sums of a block row are kept in registers and stored once, instead of being added to in the result.
// Why: y might be x or the matrix, so that each sum is loaded and stored again for each block.
#include "../common.h"

enum { BLOCK = 128, SIDE = 4, PER_ROW = 12 };

// Block-sparse rows (BSR) of 4 x 4 blocks: a thread has a row of blocks; elements of a block lie `slots` apart.
__global__ void bsr_matvec(const float *blocks, const int *columns, const float *x, float *y, int rows) {
    int r = blockIdx.x * BLOCK + threadIdx.x;
    if (r >= rows)
        return;
    size_t slots = (size_t)rows * PER_ROW;
#ifdef AFTER
    float sum[SIDE] = {0, 0, 0, 0};
#else
    for (int i = 0; i < SIDE; i++)
        y[i * rows + r] = 0;
#endif
    for (int b = 0; b < PER_ROW; b++) {
        int column = columns[b * rows + r];
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                float product = blocks[(i * SIDE + j) * slots + b * rows + r] * x[j * rows + column];
#ifdef AFTER
                sum[i] += product;
#else
                y[i * rows + r] += product;
#endif
            }
    }
#ifdef AFTER
    for (int i = 0; i < SIDE; i++)
        y[i * rows + r] = sum[i];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bsr_matvec");
    int rows = p.small ? 1 << 12 : 1 << 18;
    size_t slots = (size_t)rows * PER_ROW;
    std::vector<float> blocks = random_floats(SIDE * SIDE * slots, -1, 1, 1),
                       x = random_floats((size_t)SIDE * rows, -1, 1, 2);
    std::vector<int> columns(slots);
    unsigned seed = 3;
    for (size_t s = 0; s < slots; s++)
        columns[s] = (int)((s % rows + lcg_next(&seed, 64)) % rows);
    float *d_blocks = device_copy_of(blocks.data(), blocks.size()), *d_x = device_copy_of(x.data(), x.size()),
          *d_y = device_array<float>((size_t)SIDE * rows);
    int *d_columns = device_copy_of(columns.data(), slots);
    pair_time(&p, [&] { bsr_matvec<<<rows / BLOCK, BLOCK>>>(d_blocks, d_columns, d_x, d_y, rows); });
    std::vector<float> y = host_copy_of(d_y, (size_t)SIDE * rows);
    for (int r = 0; r < rows; r += 101)
        for (int i = 0; i < SIDE; i++) {
            double sum = 0;
            for (int b = 0; b < PER_ROW; b++)
                for (int j = 0; j < SIDE; j++)
                    sum += blocks[(i * SIDE + j) * slots + (size_t)b * rows + r] *
                           x[(size_t)j * rows + columns[(size_t)b * rows + r]];
            pair_near(&p, "y", (size_t)i * rows + r, sum, y[(size_t)i * rows + r], 1e-4);
        }
    return pair_end(&p);
}
