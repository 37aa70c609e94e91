// SPDX-License-Identifier: Apache-2.0
//
// GRAB, section 5, RQ2 and tables 4 and 5: MatMult of 64 x 64 elements, 64 blocks of 64 threads.
enum { N = 64, TILE = 8 };

// The sum lives in global memory.
__global__ void matmult_basic(const float *a, const float *b, float *c) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    c[y * N + x] = 0;
#pragma unroll 1
    for (int k = 0; k < N; k++)
        c[y * N + x] += a[y * N + k] * b[k * N + x];
}

// The sum lives in a register.
__global__ void matmult_basic_modified(const float *a, const float *b, float *c) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < N; k++)
        sum += a[y * N + k] * b[k * N + x];
    c[y * N + x] = sum;
}

// Tiles of both matrices in shared memory.
__global__ void matmult_best(const float *a, const float *b, float *c) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < N; k += TILE) {
        tile_a[ty][tx] = a[y * N + k + tx];
        tile_b[ty][tx] = b[(k + ty) * N + x];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    c[y * N + x] = sum;
}
