// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: CTAs of 1,024 threads, as cudaOccupancyMaxPotentialBlockSize suggests, instead of 32.
// Why: an SM holds 32 CTAs, here 32 of its 64 warps.
// Post: CUDA Pro Tip: Occupancy API Simplifies Launch Configuration
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 1024 };
#else
enum { BLOCK = 32 };
#endif

__global__ void square(int *array, int count) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < count)
        array[idx] *= array[idx];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "square_all");
    int n = p.small ? 1 << 16 : 1 << 24;
    std::vector<int> in(n);
    lcg_fill(in.data(), n, 1, 2);
    int *d_array = device_copy_of(in.data(), n);
    pair_time(&p, [&] { square<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_array, n); });
    std::vector<int> out = host_copy_of(d_array, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "array", i, in[i], out[i], 0);
    return pair_end(&p);
}
