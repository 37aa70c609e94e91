// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a CTA counts in shared memory and asks for its part of the result once.
// Why: each element that is kept adds to one word of global memory.
// Post: CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics
#include "../common.h"

enum { BS = 256, NPER_THREAD = 8 };

#ifdef AFTER
__global__ void filter(int *dst, int *nres, const int *src, int n) {
    __shared__ int l_n;
    int i = blockIdx.x * (NPER_THREAD * BS) + threadIdx.x;
    for (int iter = 0; iter < NPER_THREAD; iter++) {
        if (threadIdx.x == 0)
            l_n = 0;
        __syncthreads();
        int d = 0, pos = 0;
        if (i < n) {
            d = src[i];
            if (d > 0)
                pos = atomicAdd(&l_n, 1);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            l_n = atomicAdd(nres, l_n);
        __syncthreads();
        if (i < n && d > 0)
            dst[l_n + pos] = d;
        __syncthreads();
        i += BS;
    }
}
#else
__global__ void filter(int *dst, int *nres, const int *src, int n) {
    int i = blockIdx.x * (NPER_THREAD * BS) + threadIdx.x;
    for (int iter = 0; iter < NPER_THREAD; iter++, i += BS)
        if (i < n && src[i] > 0)
            dst[atomicAdd(nres, 1)] = src[i];
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "filter_positive");
    int n = p.small ? 1 << 16 : 1 << 24, blocks = (n + NPER_THREAD * BS - 1) / (NPER_THREAD * BS), kept = 0;
    std::vector<int> src(n);
    unsigned seed = 1;
    for (int &v : src) {
        v = (int)lcg_next(&seed, 200) - 100;
        kept += v > 0;
    }
    int *d_src = device_copy_of(src.data(), n), *d_dst = device_array<int>(n), *d_nres = device_array<int>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_nres, 0, sizeof(int)));
        filter<<<blocks, BS>>>(d_dst, d_nres, d_src, n);
    });
    pair_near(&p, "count", 0, kept, host_copy_of(d_nres, 1)[0], 0);
    double expected = 0, got = 0;
    for (int v : src)
        expected += v > 0 ? v : 0;
    for (int v : host_copy_of(d_dst, kept))
        got += v;
    pair_near(&p, "sum", 0, expected, got, 0);
    return pair_end(&p);
}
