// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: pointers are __restrict__.
// Why: c[i] is loaded again because the store to a might have changed it.
// Post: CUDA Pro Tip: Optimize for Pointer Aliasing
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
#define ALONE __restrict__
#else
#define ALONE
#endif

__global__ void update(float *ALONE a, float *ALONE b, const float *ALONE c) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    a[i] = a[i] + c[i];
    b[i] = b[i] + c[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aliased_update");
    int n = p.small ? 1 << 16 : 1 << 24;
    std::vector<float> c(n, 1.0f);
    float *d_c = device_copy_of(c.data(), n), *d_a = device_array<float>(n), *d_b = device_array<float>(n);
    CUDA_CHECK(cudaMemset(d_a, 0, n * sizeof(float)));
    CUDA_CHECK(cudaMemset(d_b, 0, n * sizeof(float)));
    pair_time(&p, [&] { update<<<n / BLOCK, BLOCK>>>(d_a, d_b, d_c); });
    std::vector<float> a = host_copy_of(d_a, n), b = host_copy_of(d_b, n);
    for (int i = 0; i < n; i += 1009) {
        pair_near(&p, "a", i, std::min(p.launches, 1 << 24), a[i], 0);
        pair_near(&p, "b", i, std::min(p.launches, 1 << 24), b[i], 0);
    }
    return pair_end(&p);
}
