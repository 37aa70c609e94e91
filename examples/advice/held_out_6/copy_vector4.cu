// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: int4 instead of int.
// Why: each instruction moves four bytes of a lane.
// Post: CUDA Pro Tip: Increase Performance with Vectorized Memory Access
#include "../common.h"

enum { THREADS = 128, MOST_BLOCKS = 2112 };

#ifdef AFTER
enum { WIDE = 4 };
__global__ void device_copy(int *d_in, int *d_out, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = idx; i < n / 4; i += blockDim.x * gridDim.x)
        reinterpret_cast<int4 *>(d_out)[i] = reinterpret_cast<int4 *>(d_in)[i];
    int remainder = n % 4;
    if (idx == n / 4 && remainder != 0)
        while (remainder) {
            int at = n - remainder--;
            d_out[at] = d_in[at];
        }
}
#else
enum { WIDE = 1 };
__global__ void device_copy(int *d_in, int *d_out, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = idx; i < n; i += blockDim.x * gridDim.x)
        d_out[i] = d_in[i];
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "copy_vector4");
    int n = p.small ? 1 << 17 : 1 << 26, blocks = std::min((n / WIDE + THREADS - 1) / THREADS, (int)MOST_BLOCKS);
    std::vector<int> in(n);
    lcg_fill(in.data(), n, 1, 1 << 20);
    int *d_in = device_copy_of(in.data(), n), *d_out = device_array<int>(n);
    pair_time(&p, [&] { device_copy<<<blocks, THREADS>>>(d_in, d_out, n); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, in[i], out[i], 0);
    return pair_end(&p);
}
