// SPDX-License-Identifier: Apache-2.0
// Small kernels whose machine code has what the reader must understand: an indirect branch, routines behind a function,
// inlined functions, barriers of every kind, asynchronous copies, the matrix unit. tests/sass/make.sh builds them.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

static __device__ float square(float x) { return x * x; }
static __device__ float distance2(float2 a, float2 b) { return square(a.x - b.x) + square(a.y - b.y); }

extern "C" __global__ void inlined(const float2 *points, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) out[i] = distance2(points[i], points[i + 1]);
}

extern "C" __global__ void cases(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    switch (in[i]) {
    case 0: out[i] = n * 3; break;
    case 1: out[2 * i] = out[i] + 7; break;
    case 2: out[n - i] = 4; break;
    case 3: out[i] = in[n] * in[2 * i]; break;
    case 4: out[i * 5] = n / 3; break;
    case 5: out[i] = __popc(n + i); break;
    case 6: out[i + 1] = in[i + 2] - 3; break;
    default: out[i] = -1;
    }
}

extern "C" __global__ void quotient(double *out, const double *a, const double *b, long long *whole, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] / b[i];
    whole[i] = whole[i] / whole[i + n];
}

extern "C" __global__ void tiles(float4 *out, const float4 *in, int n) {
    __shared__ float4 tile[2][128];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 1; i < n; i++) {
        __pipeline_memcpy_async(&tile[i & 1][t], &in[i * 128 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[(i + 1) & 1][127 - t].x;
        __syncthreads();
    }
    out[t].x = sum;
}

extern "C" __global__ void product(const __half *a, const __half *b, float *c, int n) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + k, n);
        load_matrix_sync(fb, b + k, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c, fc, 16, mem_row_major);
}

extern "C" __global__ void histogram(unsigned *bins, const unsigned char *in, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    unsigned sum = own[threadIdx.x];
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (sum) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
