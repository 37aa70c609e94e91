// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the sums of a row are added with shuffles, one barrier instead of nine.
// Why: in the tree in shared memory half of the threads more wait at each barrier.
#include "../common.h"

enum { BLOCK = 256 };

static __device__ float sum_of_block(float value) {
#ifdef AFTER
    __shared__ float parts[BLOCK / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int part = 0; part < BLOCK / 32; part++)
        value += parts[part];
    return value;
#else
    __shared__ float parts[BLOCK];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
#endif
}

__global__ void row_norms(const float *in, float *out, int columns) {
    const float *row = in + (size_t)blockIdx.x * columns;
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += BLOCK)
        sum += row[c] * row[c];
    float norm = sqrtf(sum_of_block(sum) + 1e-6f);
    if (threadIdx.x == 0)
        out[blockIdx.x] = norm;
}

// Euclidean norms of the rows of a matrix.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "row_norms");
    int rows = p.small ? 512 : 32768, columns = 768;
    std::vector<float> in = random_floats((size_t)rows * columns, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(rows);
    pair_time(&p, [&] { row_norms<<<rows, BLOCK>>>(d_in, d_out, columns); });
    std::vector<float> out = host_copy_of(d_out, rows);
    for (int r = 0; r < rows; r += 13) {
        double sum = 1e-6;
        for (int c = 0; c < columns; c++)
            sum += (double)in[(size_t)r * columns + c] * in[(size_t)r * columns + c];
        pair_near(&p, "norm", r, sqrt(sum), out[r], 1e-4);
    }
    return pair_end(&p);
}
