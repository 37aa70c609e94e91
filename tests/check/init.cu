// SPDX-License-Identifier: Apache-2.0
// Planted reads of memory that was never written. //! NAME marks the line that a launch file expects a finding at.
#include <cuda_runtime.h>

extern "C" __global__ void never_written(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }  //! never_written
extern "C" __global__ void fill_part(int *a, int n) {
    if (threadIdx.x < n) a[threadIdx.x] = 1;
}
extern "C" __global__ void read_rest(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }  //! read_rest
extern "C" __global__ void accumulate(float *sum) { sum[threadIdx.x] += 1; }  //! accumulate
extern "C" __global__ void count(int *counter) { atomicAdd(counter, 1); }  //! count
extern "C" __global__ void shared_never_written(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];  //! shared_never_written
}
extern "C" __global__ void shared_halo(const int *in, int *out) {
    __shared__ int s[66];
    s[threadIdx.x + 1] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];  //! shared_halo
}
extern "C" __global__ void shared_atomic_counter(int *out) {
    __shared__ int n;
    atomicAdd(&n, 1);  //! shared_atomic_counter
    __syncthreads();
    out[threadIdx.x] = n;
}
extern "C" __global__ void local_never_written(int *out, int n, int at) {
    volatile int a[16];
    for (int i = 0; i < n; i++) a[i] = i;
    out[threadIdx.x] = a[at];  //! local_never_written
}
extern "C" __global__ void wide_read(const float4 *in, float *out) {
    float4 v = in[threadIdx.x];  //! wide_read
    out[threadIdx.x] = v.x + v.w;
}
