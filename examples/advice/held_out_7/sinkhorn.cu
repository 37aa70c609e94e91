// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-down
// Change: each CTA asks for 116 KiB of shared memory that it does not use: one CTA is resident on an SM, not three.
// Why: the matrices of three CTAs are more than the L1 holds, and each is gone through forty times.
#include "../common.h"

enum { BLOCK = 512, ROWS = 192, COLUMNS = 128, PARTS = BLOCK / COLUMNS };
#ifdef AFTER
enum { UNUSED = 116 << 10 };
#else
enum { UNUSED = 0 };
#endif

// Scales rows and columns of each matrix in turn until both have even sums (optimal transport); a matrix for each CTA.
__global__ void sinkhorn(const float *matrices, float *row_scales, float *column_scales, int turns) {
    __shared__ float u[ROWS], v[COLUMNS], partial[PARTS][COLUMNS];
    const float *k = matrices + (size_t)blockIdx.x * ROWS * COLUMNS;
    int t = threadIdx.x, lane = t % 32, column = t % COLUMNS, part = t / COLUMNS;
    if (t < COLUMNS)
        v[t] = 1;
    for (int turn = 0; turn < turns; turn++) {
        __syncthreads();
        for (int row = t / 32; row < ROWS; row += BLOCK / 32) {
            float sum = 0;
            for (int c = lane; c < COLUMNS; c += 32)
                sum += k[row * COLUMNS + c] * v[c];
            for (int d = 16; d; d /= 2)
                sum += __shfl_xor_sync(~0u, sum, d);
            if (lane == 0)
                u[row] = 1.0f / ROWS / sum;
        }
        __syncthreads();
        float sum = 0;
        for (int row = part; row < ROWS; row += PARTS)
            sum += k[row * COLUMNS + column] * u[row];
        partial[part][column] = sum;
        __syncthreads();
        if (t < COLUMNS)
            v[t] = 1.0f / COLUMNS / (partial[0][t] + partial[1][t] + partial[2][t] + partial[3][t]);
    }
    __syncthreads();
    if (t < ROWS)
        row_scales[blockIdx.x * ROWS + t] = u[t];
    if (t < COLUMNS)
        column_scales[blockIdx.x * COLUMNS + t] = v[t];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sinkhorn");
    int count = p.small ? 528 : 132 * 16, turns = p.small ? 2 : 20;
    std::vector<float> k = random_floats((size_t)count * ROWS * COLUMNS, 0.1f, 1, 1);
    float *d_k = device_copy_of(k.data(), k.size()), *d_u = device_array<float>(count * ROWS),
          *d_v = device_array<float>(count * COLUMNS);
    CUDA_CHECK(cudaFuncSetAttribute(sinkhorn, cudaFuncAttributeMaxDynamicSharedMemorySize, UNUSED));
    pair_time(&p, [&] { sinkhorn<<<count, BLOCK, UNUSED>>>(d_k, d_u, d_v, turns); });
    std::vector<float> u = host_copy_of(d_u, count * ROWS), v = host_copy_of(d_v, count * COLUMNS);
    for (int m = 0; m < count; m += 37)
        for (int c = 0; c < COLUMNS; c++) {
            double sum = 0;
            for (int r = 0; r < ROWS; r++)
                sum += u[m * ROWS + r] * k[((size_t)m * ROWS + r) * COLUMNS + c] * v[m * COLUMNS + c];
            pair_near(&p, "sum of column", m * COLUMNS + c, 1, COLUMNS * sum, 1e-4);
        }
    return pair_end(&p);
}
