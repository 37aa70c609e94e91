// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel computes delta and vega, no longer a kernel for each.
// Why: both load the same four arrays and compute the same quantile.
#include "../common.h"

enum { BLOCK = 256 };

__device__ float quantile(float s, float k, float v, float t) { return (__logf(s / k) + 0.5f * v * v * t) / (v * sqrtf(t)); }

// Derivatives of the prices of options by the underlying and by the volatility.
__global__ void greeks(const float *s, const float *k, const float *v, const float *t, float *deltas, float *vegas) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float d = quantile(s[i], k[i], v[i], t[i]);
    if (deltas)
        deltas[i] = 1 / (1 + __expf(-1.702f * d));
    if (vegas)
        vegas[i] = s[i] * sqrtf(t[i]) * 0.39894228f * __expf(-0.5f * d * d);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "option_greeks");
    int n = p.small ? 1 << 15 : 1 << 24;
    std::vector<float> s = random_floats(n, 50, 150, 1), k = random_floats(n, 50, 150, 2), v = random_floats(n, 0.1f, 0.6f, 3),
                       t = random_floats(n, 0.1f, 3, 4);
    float *d_s = device_copy_of(s.data(), n), *d_k = device_copy_of(k.data(), n), *d_v = device_copy_of(v.data(), n),
          *d_t = device_copy_of(t.data(), n), *d_deltas = device_array<float>(n), *d_vegas = device_array<float>(n);
    pair_time(&p, [&] {
#ifdef AFTER
        greeks<<<n / BLOCK, BLOCK>>>(d_s, d_k, d_v, d_t, d_deltas, d_vegas);
#else
        greeks<<<n / BLOCK, BLOCK>>>(d_s, d_k, d_v, d_t, d_deltas, NULL);
        greeks<<<n / BLOCK, BLOCK>>>(d_s, d_k, d_v, d_t, NULL, d_vegas);
#endif
    });
    std::vector<float> deltas = host_copy_of(d_deltas, n), vegas = host_copy_of(d_vegas, n);
    for (int i = 0; i < n; i += 1009) {
        double d = (log((double)s[i] / k[i]) + 0.5 * v[i] * v[i] * t[i]) / (v[i] * sqrt(t[i]));
        pair_near(&p, "delta", i, 1 / (1 + exp(-1.702 * d)), deltas[i], 1e-4);
        pair_near(&p, "vega", i, s[i] * sqrt(t[i]) * 0.39894228 * exp(-0.5 * d * d), vegas[i], 1e-3);
    }
    return pair_end(&p);
}
