__device__ int g[100];
__constant__ float c[8];
__global__ void __launch_bounds__(128) big(float *x, int n, double q) {
    __shared__ float s[64];
    float a[20];
    for (int i = 0; i < 20; i++) a[i] = x[i * n];
    for (int i = 0; i < n; i++) a[i % 20] += a[i * 7 % 20];
    s[threadIdx.x] = a[n % 20];
    __syncthreads();
    x[0] = s[n] + c[n] + g[n] + q;
}
template <typename T> __global__ void small(T *x) { x[threadIdx.x] = 1; }
template __global__ void small<int>(int *);
