#include <cstdio>
extern __device__ int counter;
__constant__ float table[4] = {1, 2, 3, 4};
static __device__ int hidden = 5;
static __device__ __noinline__ float helper(float x) { return x + 7.0f + hidden; }
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ float combine(float a, float b) { return helper(a) * twice(b) + table[2] + counter; }
extern __shared__ double scratch[];
__global__ void second(double *x) {
    x[0] = combine((float)x[1], (float)scratch[0]);
    if (x[0] > 1e30) printf("second\n");
}
int main() { return 0; }
