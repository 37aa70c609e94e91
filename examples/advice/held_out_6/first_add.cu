// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Also: block-increase
// Change: 256 threads instead of one.
// Why: one thread has all the work.
// Post: An Even Easier Introduction to CUDA
#include "../common.h"

#ifdef AFTER
enum { THREADS = 256 };
#else
enum { THREADS = 1 };
#endif

__global__ void add(int n, float *x, float *y) {
    int index = threadIdx.x, stride = blockDim.x;
    for (int i = index; i < n; i += stride)
        y[i] = x[i] + y[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "first_add");
    int n = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> x(n, 1.0f), y(n, 2.0f);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n);
    pair_time(&p, [&] { add<<<1, THREADS>>>(n, d_x, d_y); });
    std::vector<float> out = host_copy_of(d_y, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "y", i, 2.0 + std::min(p.launches, 1 << 24), out[i], 0);
    return pair_end(&p);
}
