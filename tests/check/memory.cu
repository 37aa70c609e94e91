// SPDX-License-Identifier: Apache-2.0
// Planted memory errors. //! NAME marks the line that a launch file expects a finding at.
#include <cuda_runtime.h>

extern "C" __global__ void write_past_end(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  //! write_past_end
}
extern "C" __global__ void read_past_end(const int *in, int *out, int n) {
    int i = threadIdx.x;
    out[i] = in[i + 1];  //! read_past_end
}
extern "C" __global__ void read_before_begin(const int *in, int *out) {
    int i = threadIdx.x;
    out[i] = in[i - 1];  //! read_before_begin
}
extern "C" __global__ void far_past_end(int *out) { out[threadIdx.x + 5000] = 1; }  //! far_past_end
extern "C" __global__ void one_byte_past(unsigned char *out, int n) {
    if (threadIdx.x == 0) out[n] = 7;  //! one_byte_past
}
extern "C" __global__ void wide_crosses_end(const float4 *in, float4 *out) {
    out[threadIdx.x] = in[threadIdx.x];  //! wide_crosses_end
}
extern "C" __global__ void misaligned_load(const char *in, int *out) {
    out[threadIdx.x] = *(const int *)(in + threadIdx.x);  //! misaligned_load
}
extern "C" __global__ void misaligned_store(char *out) {
    *(double *)(out + 4) = 1.0;  //! misaligned_store
}
extern "C" __global__ void null_store(int *out) { out[threadIdx.x] = 3; }  //! null_store
extern "C" __global__ void null_load(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }  //! null_load
extern "C" __global__ void atomic_past_end(int *counters, int n) {
    atomicAdd(&counters[n + threadIdx.x], 1);  //! atomic_past_end
}
extern "C" __global__ void shared_static_past_end(int *out, int at) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    s[at + threadIdx.x] = 1;  //! shared_static_past_end
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void shared_dynamic_past_end(int *out) {
    extern __shared__ int d[];
    d[threadIdx.x] = 1;  //! shared_dynamic_past_end
    __syncthreads();
    out[threadIdx.x] = d[0];
}
extern "C" __global__ void shared_read_past_end(int *out, int at) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[at];  //! shared_read_past_end
}
extern "C" __global__ void shared_atomic_past_end(int *out, int at) {
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[at], 1);  //! shared_atomic_past_end
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void shared_misaligned(int *out, int at) {
    __shared__ char s[256];
    *(int *)(s + at + 4 * threadIdx.x) = 5;  //! shared_misaligned
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void local_past_end(int *out, int at) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = i;
    a[at] = 5;  //! local_past_end
    out[threadIdx.x] = a[out[0] & 15];
}
__device__ int table[8];
extern "C" __global__ void variable_past_end(int *out, int at) { out[threadIdx.x] = table[at]; }  //! variable_past_end
extern "C" __global__ void heap_past_end(int *out) {
    if (threadIdx.x) return;
    char *p = (char *)malloc(24);
    p[24] = 1;  //! heap_past_end
    out[0] = p[24];
    free(p);
}
extern "C" __global__ void heap_after_free(int *out) {
    if (threadIdx.x) return;
    int *p = (int *)malloc(64);
    *(volatile int *)p = 1;
    free(p);
    out[0] = *(volatile int *)p;  //! heap_after_free
}
extern "C" __global__ void heap_double_free(int *out) {
    if (threadIdx.x) return;
    int *p = (int *)malloc(64);
    *(volatile int *)p = 1;
    free(p);
    free(p);  //! heap_double_free
    out[0] = 1;
}
extern "C" __global__ void heap_bad_free(int *out) {
    if (threadIdx.x) return;
    int *p = (int *)malloc(64);
    *(volatile int *)p = 1;
    free(p + 1);  //! heap_bad_free
    out[0] = 1;
}
extern "C" __global__ void async_copy_past_end(const int *in, int *out) {
    __shared__ int s[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x + 16));  //! async_copy_past_end
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
__device__ __noinline__ int element(const int *p, int i) {
    return p[i];  //! inlined_read
}
extern "C" __global__ void error_in_function(const int *in, int *out, int n) {
    out[threadIdx.x] = element(in, n + threadIdx.x);
}
