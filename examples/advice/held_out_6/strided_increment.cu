// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: neighbouring threads increment neighbouring words instead of every eighth.
// Why: each thread's word is in a sector of its own.
// Post: How to Access Global Memory Efficiently in CUDA C/C++ Kernels
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
enum { STRIDE = 1 };
#else
enum { STRIDE = 8 };
#endif

__global__ void stride(float *a, int s) {
    int i = (blockDim.x * blockIdx.x + threadIdx.x) * s;
    a[i] = a[i] + 1;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "strided_increment");
    int n = p.small ? 1 << 15 : 1 << 22;
    float *d_a = device_array<float>((size_t)n * 8);
    CUDA_CHECK(cudaMemset(d_a, 0, (size_t)n * 8 * sizeof(float)));
    pair_time(&p, [&] { stride<<<n / BLOCK, BLOCK>>>(d_a, STRIDE); });
    std::vector<float> out = host_copy_of(d_a, (size_t)n * STRIDE);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "a", i, std::min(p.launches, 1 << 24), out[(size_t)i * STRIDE], 0);
    return pair_end(&p);
}
