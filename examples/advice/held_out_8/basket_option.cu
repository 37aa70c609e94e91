// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Also: block-increase
// Change: four CTAs share the paths of a basket instead of one CTA having them all.
// Why: there are 300 baskets, and an SM has room for two CTAs: the second wave is nearly empty.
#include "../common.h"

enum { BLOCK = 1024, BASKETS = 300, ASSETS = 4 };
#ifdef AFTER
enum { PARTS = 4 };
#else
enum { PARTS = 1 };
#endif

__host__ __device__ static inline unsigned scramble(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// What a path of the basket pays; its shocks are sums of uniform numbers.
__host__ __device__ static inline float payoff(int basket, int path, float strike) {
    float sum = 0, common = 0;
    for (int a = 0; a < ASSETS; a++) {
        unsigned r = scramble(basket * 0x9e3779b9u + path * ASSETS + a);
        float shock = ((r & 1023) + (r >> 10 & 1023) + (r >> 20 & 1023)) * (1.0f / 1024) - 1.5f;
        common = 0.5f * common + shock;
        sum += 1 + 0.2f * common + 0.02f * common * common;
    }
    float pays = sum / ASSETS - strike;
    return pays > 0 ? pays : 0;
}

__global__ void __launch_bounds__(BLOCK, 2) basket_option(const float *strikes, float *out, int paths) {
    __shared__ float warps[BLOCK / 32];
    int basket = blockIdx.x / PARTS, part = blockIdx.x % PARTS;
    float strike = strikes[basket], sum = 0;
    for (int path = part * BLOCK + threadIdx.x; path < paths; path += PARTS * BLOCK)
        sum += payoff(basket, path, strike);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            sum += warps[w];
        out[blockIdx.x] = sum / paths;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "basket_option");
    int paths = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> strikes = random_floats(BASKETS, 0.8f, 1.2f, 1);
    float *d_strikes = device_copy_of(strikes.data(), BASKETS), *d_out = device_array<float>(BASKETS * PARTS);
    pair_time(&p, [&] { basket_option<<<BASKETS * PARTS, BLOCK>>>(d_strikes, d_out, paths); });
    std::vector<float> out = host_copy_of(d_out, BASKETS * PARTS);
    for (int b = 0; b < BASKETS; b += 23) {
        double expected = 0, got = 0;
        for (int path = 0; path < paths; path++)
            expected += payoff(b, path, strikes[b]) / paths;
        for (int part = 0; part < PARTS; part++)
            got += out[b * PARTS + part];
        pair_near(&p, "price", b, expected, got, 1e-3);
    }
    return pair_end(&p);
}
