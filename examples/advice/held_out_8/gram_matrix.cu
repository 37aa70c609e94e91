// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: tiles of 16 x 16 numbers of both operands go through shared memory.
// Why: each number is loaded from global memory sixteen times by every CTA.
#include "../common.h"

enum { SIDE = 16 };

// X^T X of a table with `rows` rows.
__global__ void gram_matrix(const float *x, float *out, int rows, int columns) {
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * SIDE + ty, j = blockIdx.x * SIDE + tx;
    float sum = 0;
#ifdef AFTER
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    for (int k = 0; k < rows; k += SIDE) {
        a[ty][tx] = x[(k + ty) * columns + blockIdx.y * SIDE + tx];
        b[ty][tx] = x[(k + ty) * columns + j];
        __syncthreads();
        for (int r = 0; r < SIDE; r++)
            sum += a[r][ty] * b[r][tx];
        __syncthreads();
    }
#else
    for (int k = 0; k < rows; k++)
        sum += x[k * columns + i] * x[k * columns + j];
#endif
    out[i * columns + j] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gram_matrix");
    int rows = p.small ? 64 : 1024, columns = p.small ? 128 : 1024;
    std::vector<float> x = random_floats((size_t)rows * columns, -1, 1, 1);
    float *d_x = device_copy_of(x.data(), x.size()), *d_out = device_array<float>((size_t)columns * columns);
    dim3 grid(columns / SIDE, columns / SIDE), block(SIDE, SIDE);
    pair_time(&p, [&] { gram_matrix<<<grid, block>>>(d_x, d_out, rows, columns); });
    std::vector<float> out = host_copy_of(d_out, (size_t)columns * columns);
    for (size_t k = 0; k < out.size(); k += 1009) {
        double sum = 0;
        for (int r = 0; r < rows; r++)
            sum += (double)x[r * columns + k / columns] * x[r * columns + k % columns];
        pair_near(&p, "out", k, sum / rows, out[k] / rows, 1e-5);
    }
    return pair_end(&p);
}
