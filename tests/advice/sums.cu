// SPDX-License-Identifier: Apache-2.0
// A sum with an atomic of each warp, and with one of each CTA; a loop over the grid; a kernel that prints (advise.sh).
// sums.ptx: nvcc -arch=compute_75 -lineinfo -ptx sums.cu

#include <stdio.h>

static __device__ float of_warp(float x) {
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
    return x;
}

extern "C" __global__ void by_warps(const float *in, float *out) {
    float x = of_warp(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0) atomicAdd(out, x);
}

extern "C" __global__ void by_ctas(const float *in, float *out) {
    __shared__ float sums[8];
    float x = of_warp(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < 8; w++) x += sums[w];
    atomicAdd(out, x);
}

extern "C" __global__ void over_grid(const float *in, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i] + 1;
}

extern "C" __global__ void told(const float *in) {
    if (threadIdx.x == 0) printf("%g\n", in[blockIdx.x]);
}
