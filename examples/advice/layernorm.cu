// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the partial sums of a row are added by all lanes of the first warp with shuffles, no longer by one thread.
// Why: while thread 0 adds the block's partial sums one by one, every other warp of the block waits at the barrier.
#include "common.h"

enum { BLOCK = 1024, WARP = 32, WIDTH = 8192 };

// Sum of `value` over the block, for all its threads.
static __device__ float block_sum(float value, float *partial, float *total) {
    partial[threadIdx.x] = value;
    __syncthreads();
#ifdef AFTER
    if (threadIdx.x < WARP) {
        float sum = 0;
        for (int i = threadIdx.x; i < BLOCK; i += WARP)
            sum += partial[i];
        for (int d = WARP / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0)
            *total = sum;
    }
#else
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < BLOCK; i++)
            sum += partial[i];
        *total = sum;
    }
#endif
    __syncthreads();
    return *total;
}

__global__ void layernorm(const float *in, const float *scale, const float *shift, float *out) {
    __shared__ float partial[BLOCK], total[2];
    const float *row = in + (size_t)blockIdx.x * WIDTH;
    float v[WIDTH / BLOCK], sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < WIDTH / BLOCK; k++)
        sum += v[k] = row[k * BLOCK + threadIdx.x];
    float mean = block_sum(sum, partial, &total[0]) / WIDTH;
#pragma unroll
    for (int k = 0; k < WIDTH / BLOCK; k++)
        squares += (v[k] - mean) * (v[k] - mean);
    float factor = rsqrtf(block_sum(squares, partial, &total[1]) / WIDTH + 1e-5f);
#pragma unroll
    for (int k = 0; k < WIDTH / BLOCK; k++) {
        int i = k * BLOCK + threadIdx.x;
        out[(size_t)blockIdx.x * WIDTH + i] = (v[k] - mean) * factor * scale[i] + shift[i];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "layernorm");
    int rows = p.small ? 200 : 8192;
    size_t n = (size_t)rows * WIDTH;
    std::vector<float> in = random_floats(n, -2, 3, 1), scale = random_floats(WIDTH, 0, 1, 2),
                       shift = random_floats(WIDTH, 0, 1, 3);
    float *d_in = device_copy_of(in.data(), n), *d_scale = device_copy_of(scale.data(), WIDTH),
          *d_shift = device_copy_of(shift.data(), WIDTH), *d_out = device_array<float>(n);
    pair_time(&p, [&] { layernorm<<<rows, BLOCK>>>(d_in, d_scale, d_shift, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int r = 0; r < rows; r += rows / 13) {
        double mean = 0, variance = 0;
        const float *row = &in[(size_t)r * WIDTH];
        for (int i = 0; i < WIDTH; i++)
            mean += row[i] / (double)WIDTH;
        for (int i = 0; i < WIDTH; i++)
            variance += (row[i] - mean) * (row[i] - mean) / WIDTH;
        for (int i = 0; i < WIDTH; i += 31)
            pair_near(&p, "out", r * WIDTH + i, (row[i] - mean) / sqrt(variance + 1e-5) * scale[i] + shift[i],
                      out[(size_t)r * WIDTH + i], 1e-4);
    }
    return pair_end(&p);
}
