// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1056 CTAs instead of 48 share the prices in a grid-stride loop.
// Why: 48 CTAs leave most SMs without work.
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
enum { CTAS = 1056 };
#else
enum { CTAS = 48 };
#endif

// The sum of squares of a series' logarithmic returns, a part by each CTA.
__global__ void return_variance(const float *prices, float *parts, int n) {
    __shared__ float warps[BLOCK / 32];
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n - 1; i += gridDim.x * BLOCK) {
        float r = __logf(__fdividef(prices[i + 1], prices[i]));
        sum += r * r;
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            sum += warps[w];
        parts[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "return_variance");
    int n = p.small ? 1 << 16 : 1 << 24;
    std::vector<float> prices = random_floats(n, 80, 120, 1);
    float *d_prices = device_copy_of(prices.data(), n), *d_parts = device_array<float>(CTAS);
    pair_time(&p, [&] { return_variance<<<CTAS, BLOCK>>>(d_prices, d_parts, n); });
    std::vector<float> parts = host_copy_of(d_parts, CTAS);
    double expected = 0, got = 0;
    for (int i = 0; i + 1 < n; i++)
        expected += pow(log((double)prices[i + 1] / prices[i]), 2);
    for (float part : parts)
        got += part;
    pair_near(&p, "sum", 0, expected, got, 1e-3);
    return pair_end(&p);
}
