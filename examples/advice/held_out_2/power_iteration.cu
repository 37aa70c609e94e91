// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-down
// Change: each block asks for 116 KiB of shared memory that it does not use: one block is resident on an SM, not four.
// Why: the matrices of four blocks, which all turns read again, are more than the L1 holds.
#include "../common.h"

enum { N = 128, PARTS = 4, BLOCK = N * PARTS };
#ifdef AFTER
enum { UNUSED = 116 * 1024 };
#else
enum { UNUSED = 0 };
#endif

// The eigenvector of a matrix's greatest eigenvalue by iteration, a block for each matrix (stored by columns).
__global__ void __launch_bounds__(BLOCK) power_iteration(const float *matrices, float *vectors, int turns) {
    __shared__ float x[N], part[PARTS][N], most;
    const float *matrix = matrices + (size_t)blockIdx.x * N * N;
    int row = threadIdx.x % N, quarter = threadIdx.x / N;
    if (quarter == 0)
        x[row] = 1;
    __syncthreads();
    for (int turn = 0; turn < turns; turn++) {
        float sum = 0;
#pragma unroll 8
        for (int c = quarter * (N / PARTS); c < (quarter + 1) * (N / PARTS); c++)
            sum += matrix[c * N + row] * x[c];
        part[quarter][row] = sum;
        __syncthreads();
        if (quarter == 0) {
            sum = part[0][row] + part[1][row] + part[2][row] + part[3][row];
            part[0][row] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            most = 1 / part[0][0];
        __syncthreads();
        if (quarter == 0)
            x[row] = part[0][row] * most;
        __syncthreads();
    }
    if (quarter == 0)
        vectors[blockIdx.x * N + row] = x[row];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "power_iteration");
    int blocks = p.small ? 132 : 132 * 8, turns = p.small ? 3 : 24;
    std::vector<float> matrices = random_floats((size_t)blocks * N * N, 0.5f, 1, 1);
    float *d_matrices = device_copy_of(matrices.data(), matrices.size()), *d_vectors = device_array<float>(blocks * N);
    CUDA_CHECK(cudaFuncSetAttribute(power_iteration, cudaFuncAttributeMaxDynamicSharedMemorySize, 116 * 1024));
    pair_time(&p, [&] { power_iteration<<<blocks, BLOCK, UNUSED>>>(d_matrices, d_vectors, turns); });
    std::vector<float> vectors = host_copy_of(d_vectors, blocks * N);
    for (int b = 0; b < blocks; b += 17) {
        std::vector<double> x(N, 1), y(N);
        for (int turn = 0; turn < turns; turn++) {
            std::fill(y.begin(), y.end(), 0);
            for (int c = 0; c < N; c++)
                for (int r = 0; r < N; r++)
                    y[r] += (double)matrices[((size_t)b * N + c) * N + r] * x[c];
            for (int r = 0; r < N; r++)
                x[r] = y[r] / y[0];
        }
        for (int r = 0; r < N; r++)
            pair_near(&p, "x", (size_t)b * N + r, x[r], vectors[b * N + r], 1e-4);
    }
    return pair_end(&p);
}
