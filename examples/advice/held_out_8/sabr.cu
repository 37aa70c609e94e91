// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powf, logf, sqrtf and the divisions become __powf, __logf, x * rsqrtf(x) and __fdividef.
// Why: the exact ones are most of what a thread executes.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
__device__ float power(float x, float y) { return __powf(x, y); }
__device__ float logarithm(float x) { return __logf(x); }
__device__ float root(float x) { return x * rsqrtf(x); }
__device__ float quotient(float x, float y) { return __fdividef(x, y); }
#else
__device__ float power(float x, float y) { return powf(x, y); }
__device__ float logarithm(float x) { return logf(x); }
__device__ float root(float x) { return sqrtf(x); }
__device__ float quotient(float x, float y) { return x / y; }
#endif

struct Model {
    float alpha, beta, rho, nu;
};

// Hagan's volatility of an option on a forward under the SABR model.
__global__ void sabr(const float *forward, const float *strike, const float *years, float *out, Model m) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float f = forward[i], k = strike[i], c = 1 - m.beta;
    float middle = power(f * k, c / 2), l = logarithm(quotient(f, k)), z = quotient(m.nu, m.alpha) * middle * l;
    float x = logarithm(quotient(root(1 - 2 * m.rho * z + z * z) + z - m.rho, 1 - m.rho));
    float a = middle * (1 + c * c / 24 * l * l + c * c * c * c / 1920 * l * l * l * l);
    float term = quotient(c * c / 24 * m.alpha * m.alpha, middle * middle) +
                 quotient(m.rho * m.beta * m.nu * m.alpha, 4 * middle) + (2 - 3 * m.rho * m.rho) / 24 * m.nu * m.nu;
    out[i] = quotient(m.alpha, a) * quotient(z, x) * (1 + term * years[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sabr");
    int n = p.small ? 1 << 14 : 1 << 23;
    Model m = {0.3f, 0.6f, -0.3f, 0.5f};
    std::vector<float> f = random_floats(n, 1, 2, 1), k = random_floats(n, 0.5f, 0.9f, 2), t = random_floats(n, 0.2f, 5, 3);
    float *d_f = device_copy_of(f.data(), n), *d_k = device_copy_of(k.data(), n), *d_t = device_copy_of(t.data(), n),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { sabr<<<n / BLOCK, BLOCK>>>(d_f, d_k, d_t, d_out, m); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double c = 1 - m.beta, middle = pow((double)f[i] * k[i], c / 2), l = log((double)f[i] / k[i]), z = m.nu / m.alpha * middle * l;
        double x = log((sqrt(1 - 2 * m.rho * z + z * z) + z - m.rho) / (1 - m.rho));
        double a = middle * (1 + c * c / 24 * l * l + c * c * c * c / 1920 * l * l * l * l);
        double term = c * c / 24 * m.alpha * m.alpha / (middle * middle) + m.rho * m.beta * m.nu * m.alpha / (4 * middle) +
                      (2 - 3 * m.rho * m.rho) / 24 * m.nu * m.nu;
        pair_near(&p, "vol", i, m.alpha / a * z / x * (1 + term * t[i]), out[i], 1e-3);
    }
    return pair_end(&p);
}
