// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the rows of a lower triangular matrix are dealt to the warps in turn instead of in runs of neighbours.
// Why: between two barriers the warp with the last rows has several times the work of the first one; the others wait.
#include "common.h"

enum { N = 160, WARP = 32, WARPS = 8, BLOCK = WARP * WARPS, ROWS = N / WARPS, PACKED = N * (N + 1) / 2 };

// A recurrent layer with a triangular matrix in shared memory: x = tanh-like(L x), `steps` times, a sequence per block.
__global__ void trimv(const float *matrix, const float *start, float *out, int steps) {
    extern __shared__ float lower[];
    __shared__ float x[2][N];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (int i = threadIdx.x; i < PACKED; i += BLOCK)
        lower[i] = matrix[i];
    for (int i = threadIdx.x; i < N; i += BLOCK)
        x[0][i] = start[blockIdx.x * N + i];
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < ROWS; k++) {
#ifdef AFTER
            int row = k * WARPS + warp;
#else
            int row = warp * ROWS + k;
#endif
            float sum = 0;
            for (int j = lane; j <= row; j += WARP)
                sum += lower[row * (row + 1) / 2 + j] * x[s % 2][j];
            for (int d = WARP / 2; d > 0; d /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, d);
            if (lane == 0)
                x[1 - s % 2][row] = sum / (1.0f + fabsf(sum));
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += BLOCK)
        out[blockIdx.x * N + i] = x[steps % 2][i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trimv");
    int blocks = p.small ? 132 : 132 * 16, steps = p.small ? 6 : 64;
    std::vector<float> matrix = random_floats(PACKED, -0.5f, 1, 1), start = random_floats((size_t)blocks * N, -1, 1, 2);
    float *d_matrix = device_copy_of(matrix.data(), PACKED), *d_start = device_copy_of(start.data(), start.size()),
          *d_out = device_array<float>(start.size());
    CUDA_CHECK(cudaFuncSetAttribute(trimv, cudaFuncAttributeMaxDynamicSharedMemorySize, PACKED * sizeof(float)));
    pair_time(&p, [&] { trimv<<<blocks, BLOCK, PACKED * sizeof(float)>>>(d_matrix, d_start, d_out, steps); });
    std::vector<float> out = host_copy_of(d_out, start.size());
    for (int b = 0; b < blocks; b += blocks / 5) {
        std::vector<double> x(start.begin() + b * N, start.begin() + (b + 1) * N), y(N);
        for (int s = 0; s < steps; s++, x.swap(y))
            for (int row = 0; row < N; row++) {
                double sum = 0;
                for (int j = 0; j <= row; j++)
                    sum += matrix[row * (row + 1) / 2 + j] * x[j];
                y[row] = sum / (1 + fabs(sum));
            }
        for (int i = 0; i < N; i++)
            pair_near(&p, "x", b * N + i, x[i], out[b * N + i], 1e-3);
    }
    return pair_end(&p);
}
