// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Also: occupancy-up
// Change: __launch_bounds__ lets five CTAs be resident on an SM, so that all are in one wave.
// Why: 660 CTAs, of which four fit an SM, are one wave and a quarter.
// Post: CUDA Pro Tip: Minimize the Tail Effect
#include "../common.h"

enum { BLOCK = 256, CTAS = 660, ASSETS = 12, STEPS = 64 };
#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK, 5)
#else
#define BOUNDS __launch_bounds__(BLOCK)
#endif

__device__ unsigned mixed(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// Mean of the best asset of a basket along a path of each thread's own.
__global__ void BOUNDS basket(float *payoff, const float *drift, const float *volatility, float strike) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float price[ASSETS], best[ASSETS];
#pragma unroll
    for (int a = 0; a < ASSETS; a++) {
        price[a] = 1;
        best[a] = 0;
    }
    for (int step = 0; step < STEPS; step++) {
        unsigned random = mixed(t * STEPS + step);
#pragma unroll
        for (int a = 0; a < ASSETS; a++) {
            random = random * 1664525u + 1013904223u;
            float u = (random >> 8) * (1.0f / (1 << 24)) - 0.5f;
            price[a] += price[a] * (drift[a] + volatility[a] * u);
            best[a] = fmaxf(best[a], price[a]);
        }
    }
    float sum = 0;
#pragma unroll
    for (int a = 0; a < ASSETS; a++)
        sum += fmaxf(best[a] - strike, 0);
    payoff[t] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "one_wave");
    int n = CTAS * BLOCK;
    std::vector<float> drift = random_floats(ASSETS, 0, 0.01f, 1), volatility = random_floats(ASSETS, 0.01f, 0.1f, 2);
    float *d_drift = device_copy_of(drift.data(), ASSETS), *d_volatility = device_copy_of(volatility.data(), ASSETS),
          *d_payoff = device_array<float>(n);
    pair_time(&p, [&] { basket<<<CTAS, BLOCK>>>(d_payoff, d_drift, d_volatility, 1.1f); });
    std::vector<float> payoff = host_copy_of(d_payoff, n);
    for (int t = 0; t < n; t += 1009)
        pair_near(&p, "finite", t, 1, std::isfinite(payoff[t]) && payoff[t] >= 0, 0);
    return pair_end(&p);
}
