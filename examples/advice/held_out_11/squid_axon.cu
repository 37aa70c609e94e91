// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf and divisions become __expf and __fdividef.
// Why: six exponentials and six divisions per step take most of the instructions.
#include "../common.h"

enum { BLOCK = 256, STEPS = 24 };

#ifdef AFTER
#define EXP(x) __expf(x)
#define DIVIDE(a, b) __fdividef(a, b)
#else
#define EXP(x) expf(x)
#define DIVIDE(a, b) ((a) / (b))
#endif

// Membranes of nerve cells after some steps (Hodgkin and Huxley), each with its own current.
__global__ void squid_axon(const float *current, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float v = -65.0f, m = 0.05f, h = 0.6f, n = 0.32f, driven = current[i];
    const float dt = 0.01f;
#pragma unroll 1
    for (int s = 0; s < STEPS; s++) {
        float alpha_m = DIVIDE(0.1f * (v + 40.3f), 1.0f - EXP(-(v + 40.3f) * 0.1f)),
              beta_m = 4.0f * EXP(-(v + 65.0f) * 0.0556f);
        float alpha_h = 0.07f * EXP(-(v + 65.0f) * 0.05f), beta_h = DIVIDE(1.0f, 1.0f + EXP(-(v + 35.0f) * 0.1f));
        float alpha_n = DIVIDE(0.01f * (v + 55.3f), 1.0f - EXP(-(v + 55.3f) * 0.1f)),
              beta_n = 0.125f * EXP(-(v + 65.0f) * 0.0125f);
        m += dt * (alpha_m * (1.0f - m) - beta_m * m);
        h += dt * (alpha_h * (1.0f - h) - beta_h * h);
        n += dt * (alpha_n * (1.0f - n) - beta_n * n);
        float sodium = 120.0f * m * m * m * h * (v - 50.0f), potassium = 36.0f * n * n * n * n * (v + 77.0f);
        v += dt * (driven - sodium - potassium - 0.3f * (v + 54.4f));
    }
    out[i] = v;
}

static double reference(double driven) {
    double v = -65, m = 0.05, h = 0.6, n = 0.32;
    for (int s = 0; s < STEPS; s++) {
        double am = 0.1 * (v + 40.3) / (1 - exp(-(v + 40.3) * 0.1)), bm = 4 * exp(-(v + 65) * 0.0556);
        double ah = 0.07 * exp(-(v + 65) * 0.05), bh = 1 / (1 + exp(-(v + 35) * 0.1));
        double an = 0.01 * (v + 55.3) / (1 - exp(-(v + 55.3) * 0.1)), bn = 0.125 * exp(-(v + 65) * 0.0125);
        m += 0.01 * (am * (1 - m) - bm * m);
        h += 0.01 * (ah * (1 - h) - bh * h);
        n += 0.01 * (an * (1 - n) - bn * n);
        v += 0.01 * (driven - 120 * m * m * m * h * (v - 50) - 36 * n * n * n * n * (v + 77) - 0.3 * (v + 54.4));
    }
    return v;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "squid_axon");
    int n = p.small ? 1 << 13 : 1 << 19;
    std::vector<float> current = random_floats(n, 0, 40, 1);
    float *d_current = device_copy_of(current.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { squid_axon<<<n / BLOCK, BLOCK>>>(d_current, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 499)
        pair_near(&p, "v", i, reference(current[i]), out[i], 1e-3);
    return pair_end(&p);
}
