// SPDX-License-Identifier: Apache-2.0
// A long kernel, and a short one that goes on with what it stored (advise.sh). product_bias.ptx:
// nvcc -arch=compute_75 -lineinfo -ptx product_bias.cu

extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * 128 + column];
    c[row * 128 + column] = sum;
}
extern "C" __global__ void bias(const float *b, float *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    c[row * 128 + column] += b[column];
}
