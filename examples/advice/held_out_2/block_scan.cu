// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the 32 warps' totals are scanned by the lanes of the first warp with shuffles instead of by one thread.
// Why: 31 warps wait at the barrier while one lane adds up 32 numbers one after the other.
#include "../common.h"

enum { BLOCK = 1024 };

static __device__ int scan_of_warp(int v) {
    for (int d = 1; d < 32; d *= 2) {
        int below = __shfl_up_sync(~0u, v, d);
        if (threadIdx.x % 32 >= d)
            v += below;
    }
    return v;
}

// Inclusive prefix sums of segments of 1024 numbers.
__global__ void __launch_bounds__(BLOCK) block_scan(const int *in, int *out) {
    __shared__ int totals[32];
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int v = scan_of_warp(in[i]);
    if (lane == 31)
        totals[warp] = v;
    __syncthreads();
#ifdef AFTER
    if (warp == 0)
        totals[lane] = scan_of_warp(totals[lane]);
#else
    if (threadIdx.x == 0)
        for (int w = 1; w < 32; w++)
            totals[w] += totals[w - 1];
#endif
    __syncthreads();
    out[i] = v + (warp ? totals[warp - 1] : 0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "block_scan");
    int n = p.small ? 1 << 19 : 1 << 24;
    std::vector<int> in(n);
    lcg_fill(in.data(), n, 1, 1000);
    int *d_in = device_copy_of(in.data(), n), *d_out = device_array<int>(n);
    pair_time(&p, [&] { block_scan<<<n / BLOCK, BLOCK>>>(d_in, d_out); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int i = 0, sum = 0; i < n; i++) {
        sum = i % BLOCK ? sum + in[i] : in[i];
        pair_near(&p, "out", i, sum, out[i], 0);
    }
    return pair_end(&p);
}
