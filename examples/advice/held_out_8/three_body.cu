// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for 2 resident CTAs of 256 threads instead of 8.
// Why: 32 registers do not hold the state of three bodies and its slopes.
#include "../common.h"

enum { BLOCK = 256, NUMBERS = 12 };
#ifdef AFTER
enum { CTAS = 2 };
#else
enum { CTAS = 8 };
#endif

// Places and velocities of three bodies in a plane; the slopes of both.
__host__ __device__ static inline void slopes(const float *s, float *d) {
    const float mass[3] = {1.0f, 0.5f, 0.25f};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float ax = 0, ay = 0;
#pragma unroll
        for (int j = 0; j < 3; j++)
            if (j != i) {
                float x = s[2 * j] - s[2 * i], y = s[2 * j + 1] - s[2 * i + 1], r2 = x * x + y * y + 0.1f;
#ifdef __CUDA_ARCH__
                float r = rsqrtf(r2);
#else
                float r = 1 / sqrtf(r2);
#endif
                ax += mass[j] * x * r * r * r;
                ay += mass[j] * y * r * r * r;
            }
        d[2 * i] = s[6 + 2 * i];
        d[2 * i + 1] = s[6 + 2 * i + 1];
        d[6 + 2 * i] = ax;
        d[6 + 2 * i + 1] = ay;
    }
}

// One step of the classical Runge and Kutta method.
__host__ __device__ static inline void advance(float *s, float h) {
    float k1[NUMBERS], k2[NUMBERS], k3[NUMBERS], k4[NUMBERS], t[NUMBERS];
    slopes(s, k1);
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
        t[i] = s[i] + h / 2 * k1[i];
    slopes(t, k2);
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
        t[i] = s[i] + h / 2 * k2[i];
    slopes(t, k3);
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
        t[i] = s[i] + h * k3[i];
    slopes(t, k4);
#pragma unroll
    for (int i = 0; i < NUMBERS; i++)
        s[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
}

__global__ void __launch_bounds__(BLOCK, CTAS) three_body(const float *in, float *out, int n, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float s[NUMBERS];
#pragma unroll
    for (int k = 0; k < NUMBERS; k++)
        s[k] = in[k * n + i];
    for (int step = 0; step < steps; step++)
        advance(s, 0.01f);
#pragma unroll
    for (int k = 0; k < NUMBERS; k++)
        out[k * n + i] = s[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "three_body");
    int n = p.small ? 1 << 12 : 1 << 20, steps = p.small ? 4 : 32;
    std::vector<float> in = random_floats((size_t)NUMBERS * n, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { three_body<<<n / BLOCK, BLOCK>>>(d_in, d_out, n, steps); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < n; i += 1009) {
        float s[NUMBERS];
        for (int k = 0; k < NUMBERS; k++)
            s[k] = in[(size_t)k * n + i];
        for (int step = 0; step < steps; step++)
            advance(s, 0.01f);
        for (int k = 0; k < NUMBERS; k++)
            pair_near(&p, "state", (size_t)k * n + i, s[k], out[(size_t)k * n + i], 2e-3);
    }
    return pair_end(&p);
}
