// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes four neighbouring elements with accesses of 16 bytes instead of one.
// Why: it was thought to help hardly, the DRAM being the limit with either; an H200 moves 27 % more bytes with it.
#include "../common.h"

enum { BLOCK = 256 };

// STREAM's triad.
__global__ void triad(const float *b, const float *c, float *a, float scalar) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float4 x = ((const float4 *)b)[i], y = ((const float4 *)c)[i];
    ((float4 *)a)[i] = make_float4(x.x + scalar * y.x, x.y + scalar * y.y, x.z + scalar * y.z, x.w + scalar * y.w);
#else
    a[i] = b[i] + scalar * c[i];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "triad");
    int n = p.small ? 1 << 18 : 1 << 25;
    std::vector<float> b = random_floats(n, -1, 1, 1), c = random_floats(n, -1, 1, 2);
    float *d_b = device_copy_of(b.data(), n), *d_c = device_copy_of(c.data(), n), *d_a = device_array<float>(n);
#ifdef AFTER
    int threads = n / 4;
#else
    int threads = n;
#endif
    pair_time(&p, [&] { triad<<<threads / BLOCK, BLOCK>>>(d_b, d_c, d_a, 3); });
    std::vector<float> a = host_copy_of(d_a, n);
    for (int i = 0; i < n; i += 59)
        pair_near(&p, "a", i, b[i] + 3.0 * c[i], a[i], 1e-5);
    return pair_end(&p);
}
