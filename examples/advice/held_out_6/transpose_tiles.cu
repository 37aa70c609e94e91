// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: rows of the result are written from a tile in shared memory.
// Why: neighbouring threads write words that are a column apart.
// Post: An Efficient Matrix Transpose in CUDA C/C++
#include "../common.h"

enum { TILE = 32, ROWS = 8 };

#ifdef AFTER
__global__ void transpose_matrix(float *odata, const float *idata) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, width = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
#else
__global__ void transpose_matrix(float *odata, const float *idata) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, width = gridDim.x * TILE;
    for (int j = 0; j < TILE; j += ROWS)
        odata[x * width + (y + j)] = idata[(y + j) * width + x];
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "transpose_tiles");
    int n = p.small ? 256 : 8192;
    std::vector<float> in = random_floats((size_t)n * n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { transpose_matrix<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(d_out, d_in); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (size_t i = 0; i < in.size(); i += 1009)
        pair_near(&p, "out", i, in[i % n * n + i / n], out[i], 0);
    return pair_end(&p);
}
