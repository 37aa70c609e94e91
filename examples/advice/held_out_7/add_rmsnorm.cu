// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: adding the branch to the residual and the norm of a row are one kernel instead of two.
// Why: the sum is stored, and loaded again by the next kernel.
#include "../common.h"

enum { BLOCK = 256, WIDTH = 2048, EACH = WIDTH / BLOCK };

__device__ float sum_of_block(float x) {
    __shared__ float warps[BLOCK / 32];
    for (int d = 16; d; d /= 2)
        x += __shfl_xor_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < BLOCK / 32; w++)
        x += warps[w];
    return x;
}

#ifdef AFTER
__global__ void add_norm(const float *x, const float *branch, float *sum, const float *scale, float *out) {
    int first = blockIdx.x * WIDTH + threadIdx.x;
    float v[EACH], squares = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        v[k] = x[first + k * BLOCK] + branch[first + k * BLOCK];
        sum[first + k * BLOCK] = v[k];
        squares += v[k] * v[k];
    }
    float by = rsqrtf(sum_of_block(squares) / WIDTH + 1e-6f);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[first + k * BLOCK] = v[k] * by * scale[threadIdx.x + k * BLOCK];
}
#else
__global__ void add(const float *x, const float *branch, float *sum) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    sum[i] = x[i] + branch[i];
}

__global__ void norm(const float *sum, const float *scale, float *out) {
    int first = blockIdx.x * WIDTH + threadIdx.x;
    float v[EACH], squares = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        v[k] = sum[first + k * BLOCK];
        squares += v[k] * v[k];
    }
    float by = rsqrtf(sum_of_block(squares) / WIDTH + 1e-6f);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[first + k * BLOCK] = v[k] * by * scale[threadIdx.x + k * BLOCK];
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "add_rmsnorm");
    int rows = p.small ? 64 : 1 << 13;
    size_t n = (size_t)rows * WIDTH;
    std::vector<float> x = random_floats(n, -1, 1, 1), branch = random_floats(n, -1, 1, 2),
                       scale = random_floats(WIDTH, 0.5f, 1.5f, 3);
    float *d_x = device_copy_of(x.data(), n), *d_branch = device_copy_of(branch.data(), n),
          *d_scale = device_copy_of(scale.data(), WIDTH), *d_sum = device_array<float>(n),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] {
#ifdef AFTER
        add_norm<<<rows, BLOCK>>>(d_x, d_branch, d_sum, d_scale, d_out);
#else
        add<<<n / BLOCK, BLOCK>>>(d_x, d_branch, d_sum);
        norm<<<rows, BLOCK>>>(d_sum, d_scale, d_out);
#endif
    });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int r = 0; r < rows; r += 37) {
        double squares = 0;
        for (size_t i = (size_t)r * WIDTH; i < (size_t)(r + 1) * WIDTH; i++)
            squares += (double)(x[i] + branch[i]) * (x[i] + branch[i]);
        for (size_t i = (size_t)r * WIDTH; i < (size_t)(r + 1) * WIDTH; i++)
            pair_near(&p, "out", i, (x[i] + branch[i]) / sqrt(squares / WIDTH + 1e-6) * scale[i % WIDTH], out[i], 1e-4);
    }
    return pair_end(&p);
}
