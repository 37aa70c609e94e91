// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 528 blocks instead of 64 share the vectors in a grid-stride loop.
// Why: 64 blocks use 64 of 132 SMs and keep too few loads under way to fill the memory's bandwidth.
#include "common.h"

#ifdef AFTER
enum { BLOCKS = 528 };
#else
enum { BLOCKS = 64 };
#endif
enum { BLOCK = 512, WARP = 32 };

__global__ void dot(const float *a, const float *b, float *partial, int n) {
    __shared__ float sums[BLOCK / WARP];
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += a[i] * b[i];
    for (int d = WARP / 2; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / WARP; w++)
            sum += sums[w];
        partial[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dot");
    int n = p.small ? 1 << 22 : 1 << 26;
    std::vector<float> a = random_floats(n, -1, 1, 1), b = random_floats(n, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), n), *d_b = device_copy_of(b.data(), n),
          *d_partial = device_array<float>(BLOCKS);
    pair_time(&p, [&] { dot<<<BLOCKS, BLOCK>>>(d_a, d_b, d_partial, n); });
    std::vector<float> partial = host_copy_of(d_partial, BLOCKS);
    double expected = 0, got = 0, scale = 0;
    for (int i = 0; i < n; i++) {
        expected += (double)a[i] * b[i];
        scale += fabs((double)a[i] * b[i]);
    }
    for (float f : partial)
        got += f;
    pair_near(&p, "dot", 0, expected / scale, got / scale, 1e-5);
    return pair_end(&p);
}
