// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf, logf, sqrtf and the division become the fast ones: __expf, __logf, x * rsqrtf(x), __fdividef.
// Why: the exact ones treat denormals and round the last bit, in sequences of some ten to thirty instructions each.
#include "common.h"

enum { STRIKES = 16, BLOCK = 256 };

#ifdef AFTER
#define EXP(x) __expf(x)
#define LOG(x) __logf(x)
#define SQRT(x) ((x)*rsqrtf(x))
#define DIVIDE(x, y) __fdividef(x, y)
#else
#define EXP(x) expf(x)
#define LOG(x) logf(x)
#define SQRT(x) sqrtf(x)
#define DIVIDE(x, y) ((x) / (y))
#endif

// Cumulative normal distribution: Abramowitz and Stegun 26.2.17.
static __device__ float normal(float d) {
    float k = DIVIDE(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float tail =
        0.39894228f * EXP(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

// Sum of the prices of calls at STRIKES strikes around the spot price.
__global__ void black_scholes(const float *spot, const float *years, const float *volatility, float *out, float rate,
                              int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = spot[i], t = years[i], v = volatility[i], sum = 0;
    for (int k = 0; k < STRIKES; k++) {
        float x = s * (0.6f + 0.05f * k), spread = v * SQRT(t);
        float d1 = DIVIDE(LOG(DIVIDE(s, x)) + (rate + 0.5f * v * v) * t, spread), d2 = d1 - spread;
        sum += s * normal(d1) - x * EXP(-rate * t) * normal(d2);
    }
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "black_scholes");
    int n = p.small ? 132 * 1024 : 1 << 21;
    std::vector<float> spot = random_floats(n, 10, 100, 1), years = random_floats(n, 0.2f, 5, 2),
                       vol = random_floats(n, 0.1f, 0.6f, 3);
    float *d_spot = device_copy_of(spot.data(), n), *d_years = device_copy_of(years.data(), n),
          *d_vol = device_copy_of(vol.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { black_scholes<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_spot, d_years, d_vol, d_out, 0.02f, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += n / 97) {
        double s = spot[i], t = years[i], v = vol[i], sum = 0;
        for (int k = 0; k < STRIKES; k++) {
            double x = s * (0.6 + 0.05 * k), d1 = (log(s / x) + (0.02 + 0.5 * v * v) * t) / (v * sqrt(t)),
                   d2 = d1 - v * sqrt(t);
            sum += s * 0.5 * erfc(-d1 / sqrt(2.0)) - x * exp(-0.02 * t) * 0.5 * erfc(-d2 / sqrt(2.0));
        }
        pair_near(&p, "out", i, sum, out[i], 1e-3);
    }
    return pair_end(&p);
}
