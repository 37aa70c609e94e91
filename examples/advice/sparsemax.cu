// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-down
// Change: each block asks for 116 KiB of shared memory that it does not use: one block is resident on an SM, not four.
// Why: a block reads its row of 100 KB again and again; four rows at a time overflow the L1 cache, one row stays in it.
#include "common.h"

enum { BLOCK = 512, WARP = 32, WIDTH = 25600 };

// Sum over the block of how far the row rises above t.
static __device__ float above(const float4 *row, float t, float *partial) {
    float sum = 0;
#pragma unroll 5
    for (int i = threadIdx.x; i < WIDTH / 4; i += BLOCK) {
        float4 v = row[i];
        sum += fmaxf(v.x - t, 0) + fmaxf(v.y - t, 0) + fmaxf(v.z - t, 0) + fmaxf(v.w - t, 0);
    }
    for (int d = WARP / 2; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        partial[threadIdx.x / WARP] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < BLOCK / WARP; w++)
        sum += partial[w];
    return sum;
}

// Threshold of each row's projection onto the simplex (sparsemax): sum of max(v - t, 0) is 1; by bisection.
__global__ void __launch_bounds__(BLOCK, 4) sparsemax(const float *in, float *thresholds, int steps) {
    __shared__ float partial[BLOCK / WARP];
    const float4 *row = (const float4 *)(in + (size_t)blockIdx.x * WIDTH);
    float low = 0, high = 1;
    for (int s = 0; s < steps; s++) {
        float middle = (low + high) / 2;
        if (above(row, middle, partial) > 1)
            low = middle;
        else
            high = middle;
    }
    if (threadIdx.x == 0)
        thresholds[blockIdx.x] = (low + high) / 2;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sparsemax");
    int rows = p.small ? 132 * 4 : 132 * 16, steps = p.small ? 3 : 20;
#ifdef AFTER
    size_t shared = 116 * 1024;
#else
    size_t shared = 0;
#endif
    std::vector<float> in = random_floats((size_t)rows * WIDTH, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_thresholds = device_array<float>(rows);
    CUDA_CHECK(cudaFuncSetAttribute(sparsemax, cudaFuncAttributeMaxDynamicSharedMemorySize, 116 * 1024));
    pair_time(&p, [&] { sparsemax<<<rows, BLOCK, shared>>>(d_in, d_thresholds, steps); });
    std::vector<float> thresholds = host_copy_of(d_thresholds, rows);
    double step = pow(0.5, steps);
    for (int r = 0; r < rows; r += 97) {
        double sums[2] = {0, 0};  // just below and just above the threshold
        for (int i = 0; i < WIDTH; i++)
            for (int side = 0; side < 2; side++)
                sums[side] += fmax(in[(size_t)r * WIDTH + i] - (thresholds[r] + (2 * side - 1) * step), 0);
        pair_near(&p, "rows between", r, 1, sums[0] >= 0.999 && sums[1] <= 1.001, 0);
    }
    return pair_end(&p);
}
