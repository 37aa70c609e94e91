// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, for advice_test.c. kernels.ptx: nvcc -arch=compute_75 -lineinfo -ptx kernels.cu

// Neighbouring lanes are a row apart.
extern "C" __global__ void strided(const float *a, float *out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int c = 0; c < columns; c++)
        sum += a[row * columns + c];
    out[row] = sum;
}

// All lanes of a warp meet in one bank.
extern "C" __global__ void conflicts(const float *a, float *out, int turns) {
    __shared__ float tile[32][32];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int r = y; r < 32; r += blockDim.x / 32)
        tile[r][x] = a[r * 32 + x];
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < turns; k++)
        sum += tile[x][(y + k) & 31];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A constant without f.
extern "C" __global__ void doubles(const float *a, float *out, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k < turns; k++)
        x = 0.25 * x + 1.0;
    out[i] = x;
}

// Each turn waits for its load.
extern "C" __global__ void rolled(const float *a, float *out, int turns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        sum += a[k * pitch + i];
    out[i] = sum;
}
