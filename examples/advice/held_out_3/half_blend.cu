// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread blends two neighbouring values as one __half2 instead of one __half.
// Why: accesses of two bytes keep the load/store path busy with little to carry.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 256 };

__global__ void half_blend(const __half *a, const __half *b, __half *out, __half share, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i >= n / 2)
        return;
    __half2 wide = __half2half2(share), from = ((const __half2 *)a)[i], to = ((const __half2 *)b)[i];
    ((__half2 *)out)[i] = __hfma2(wide, __hsub2(to, from), from);
#else
    if (i < n)
        out[i] = __hfma(share, __hsub(b[i], a[i]), a[i]);
#endif
}

// Linear interpolation between two feature maps in half precision.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "half_blend");
    int n = p.small ? 1 << 19 : 1 << 25;
    std::vector<float> from = random_floats(n, 0, 1, 1), to = random_floats(n, 0, 1, 2);
    std::vector<__half> a(n), b(n);
    for (int i = 0; i < n; i++)
        a[i] = __float2half(from[i]), b[i] = __float2half(to[i]);
    __half *d_a = device_copy_of(a.data(), n), *d_b = device_copy_of(b.data(), n), *d_out = device_array<__half>(n);
#ifdef AFTER
    int threads = n / 2;
#else
    int threads = n;
#endif
    pair_time(&p, [&] { half_blend<<<threads / BLOCK, BLOCK>>>(d_a, d_b, d_out, __float2half(0.25f), n); });
    std::vector<__half> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "out", i, from[i] + 0.25 * (to[i] - from[i]), __half2float(out[i]), 2e-3);
    return pair_end(&p);
}
