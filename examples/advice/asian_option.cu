// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: four blocks share the paths of an option instead of one block having them all.
// Why: 1056 of 1200 blocks fill the GPU once; while the other 144 run, most of each SM has nothing to do.
#include "common.h"

enum { BLOCK = 256, WARP = 32 };
#ifdef AFTER
enum { SHARES = 4 };
#else
enum { SHARES = 1 };
#endif

static __host__ __device__ float uniform(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return ((*state >> 9) + 0.5f) * (1.0f / (1 << 23));
}

// The payoff of one path of an Asian call, two steps at a time (Box and Muller).
static __host__ __device__ float payoff_of(float strike, int steps, unsigned *state) {
    float price = 100, mean = 0;
    for (int s = 0; s < steps; s += 2) {
        float r = 0.03f * sqrtf(-2 * logf(uniform(state))), a = 6.2831853f * uniform(state);
        price *= expf(0.0002f + r * cosf(a));
        mean += price;
        price *= expf(0.0002f + r * sinf(a));
        mean += price;
    }
    return fmaxf(mean / steps - strike, 0);
}

// Monte Carlo prices: block b computes share b % SHARES of option b / SHARES.
__global__ void __launch_bounds__(BLOCK, 8) asian_option(const float *strikes, float *prices, int paths, int steps) {
    __shared__ float sums[BLOCK / WARP];
    float strike = strikes[blockIdx.x / SHARES], payoff = 0;
    unsigned state = (blockIdx.x * BLOCK + threadIdx.x) * 747796405u + 2891336453u;
    for (int k = threadIdx.x; k < paths / SHARES; k += BLOCK)
        payoff += payoff_of(strike, steps, &state);
    for (int d = WARP / 2; d > 0; d /= 2)
        payoff += __shfl_xor_sync(0xffffffffu, payoff, d);
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = payoff;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / WARP; w++)
            payoff += sums[w];
        prices[blockIdx.x] = payoff / paths;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "asian_option");
    int options = p.small ? 300 : 1200, paths = BLOCK * (p.small ? 8 : 32), steps = p.small ? 4 : 32;
    size_t shared = p.small ? 100 * 1024 : 0;  // small: two blocks per SM instead of eight, so 264 of 300 fill the GPU
    std::vector<float> strikes = random_floats(options, 95, 105, 1);
    float *d_strikes = device_copy_of(strikes.data(), options), *d_prices = device_array<float>(options * SHARES);
    CUDA_CHECK(cudaFuncSetAttribute(asian_option, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    pair_time(&p, [&] { asian_option<<<options * SHARES, BLOCK, shared>>>(d_strikes, d_prices, paths, steps); });
    std::vector<float> prices = host_copy_of(d_prices, options * SHARES);
    double got = 0, expected = 0;
    unsigned state = 99;
    for (float price : prices)
        got += price / options;
    for (int k = 0; k < 200 * options; k++)
        expected += payoff_of(strikes[k % options], steps, &state) / (200 * options);
    pair_near(&p, "mean price", 0, expected, got, 0.03);
    return pair_end(&p);
}
