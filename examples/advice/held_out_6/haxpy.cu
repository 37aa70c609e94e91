// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: two half-precision numbers at a time.
// Why: a lane moves two bytes and has half of an instruction.
// Post: Mixed-Precision Programming with CUDA 8
#include "../common.h"

#include <cuda_fp16.h>

enum { THREADS = 256, BLOCKS = 1056 };

__global__ void haxpy_kernel(int n, half a, const half *x, half *y) {
    int start = threadIdx.x + blockDim.x * blockIdx.x, stride = blockDim.x * gridDim.x;
#ifdef AFTER
    int n2 = n / 2;
    half2 *x2 = (half2 *)x, *y2 = (half2 *)y;
    for (int i = start; i < n2; i += stride)
        y2[i] = __hfma2(__halves2half2(a, a), x2[i], y2[i]);
    if (start == 0 && (n % 2))
        y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
#else
    for (int i = start; i < n; i += stride)
        y[i] = __hfma(a, x[i], y[i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "haxpy");
    int n = p.small ? 1 << 17 : 1 << 26;
    std::vector<half> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = __float2half((float)(i % 64));
        y[i] = __float2half((float)(i % 32));
    }
    half *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n);
    pair_time(&p, [&] { haxpy_kernel<<<BLOCKS, THREADS>>>(n, __float2half(2), d_x, d_y); });
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), n * sizeof(half), cudaMemcpyHostToDevice));
    haxpy_kernel<<<BLOCKS, THREADS>>>(n, __float2half(2), d_x, d_y);
    std::vector<half> out = host_copy_of(d_y, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "y", i, 2 * (i % 64) + i % 32, __half2float(out[i]), 0);
    return pair_end(&p);
}
