// SPDX-License-Identifier: Apache-2.0
// Memory in all its spaces and widths. Compiled as memory.launch says; each kernel's result follows from its text.
#include <cuda_fp16.h>

// Widening loads and narrowing stores.
extern "C" __global__ void widths(signed char *bytes, unsigned short *shorts, long long *out) {
    int t = threadIdx.x;
    out[t] = (long long)bytes[t] * shorts[t] + (unsigned char)bytes[t];
    bytes[t] = (signed char)(t * 3);
    shorts[t] = (unsigned short)(t * 5000);
}

// 8- and 16-byte vectors, misaligned to lanes but aligned to themselves.
extern "C" __global__ void vectors(const float4 *in, float2 *out, int n) {
    int t = threadIdx.x;
    float4 v = in[(t * 7) % n];
    out[2 * t] = make_float2(v.w, v.z);
    out[2 * t + 1] = make_float2(v.y, v.x);
}

__constant__ int weights[4] = {3, 5, 7, 11};
__device__ int offsets[4] = {100, 200, 300, 400};
__device__ int *where = &offsets[2];

// One generic pointer that is shared, local, global or constant memory, lane by lane.
extern "C" __global__ void generic(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x, l[2] = {t * 1000, t};
    s[t] = t + 50;
    __syncwarp();
    const int *p = t % 4 == 0 ? &s[31 - t] : t % 4 == 1 ? &l[t & 1] : t % 4 == 2 ? &where[1] : &weights[t & 3];
    out[t] = *p + weights[t & 3];
}

// A local array indexed at run time.
extern "C" __global__ void local_array(int *out, int step) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = i * step + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += a[(i * 5 + threadIdx.x) & 15] * (i & 1 ? 1 : -1);
    out[threadIdx.x] = sum;
}

// Atomics of every kind, on global and shared memory.
extern "C" __global__ void atomics(int *ints, unsigned long long *longs, float *floats, double *doubles, __half2 *halves) {
    __shared__ unsigned s[4];
    int t = threadIdx.x;
    if (t < 4) s[t] = 0;
    __syncthreads();
    atomicAdd(&ints[0], t);
    atomicSub(&ints[1], 1);
    atomicMax(&ints[2], t * (t & 1 ? -1 : 1));
    atomicMin(&ints[3], -t);
    atomicAnd(&ints[4], ~(1 << (t & 7)));
    atomicOr(&ints[5], 1 << (t & 31));
    atomicXor(&ints[6], t);
    atomicInc((unsigned *)&ints[7], 9);
    atomicDec((unsigned *)&ints[8], 9);
    int old = atomicExch(&ints[9], 77);
    if (old != 77) atomicAdd(&ints[10], 1);
    atomicCAS(&ints[11], t, t + 1);
    atomicAdd(&longs[0], 1ull << 33);
    atomicMax(&longs[1], (unsigned long long)t << 40);
    atomicAdd(floats, 0.5f);
    atomicAdd(doubles, 0.25);
    atomicAdd(halves, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(&s[t & 3], 2);
    atomicMax(&s[3], 1000 + t);
    __syncthreads();
    if (t < 4) ints[12 + t] = s[t];
}

extern __shared__ int dynamic_words[];
// Dynamic behind static shared memory.
extern "C" __global__ void dynamic_shared(int *out) {
    __shared__ int fixed[8];
    int t = threadIdx.x;
    if (t < 8) fixed[t] = -t;
    dynamic_words[t] = t * t;
    __syncthreads();
    out[t] = dynamic_words[blockDim.x - 1 - t] + fixed[t & 7];
}
