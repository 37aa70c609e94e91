#include <cstdio>
__device__ int counter;
extern __constant__ float table[4];
extern __device__ float combine(float, float);
static __device__ int hidden = 3;
static __device__ __noinline__ float helper(float x) { return x * 2.0f + hidden; }
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
typedef float (*Op)(float, float);
__device__ Op op = combine;
extern __shared__ float scratch[];
__global__ void first(float *x) {
    scratch[threadIdx.x] = x[threadIdx.x];
    atomicAdd(&counter, 1);
    x[threadIdx.x] = twice(helper(combine(scratch[0], table[1]))) + op(x[1], 2.0f);
    if (x[0] > 1e30f) printf("first: large\n");
}
