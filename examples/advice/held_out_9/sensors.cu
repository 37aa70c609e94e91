// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: readings are taken sorted by the kind of their sensor.
// Why: neighbouring lanes have sensors of four kinds, each with a formula of its own.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4, STEPS = 24 };

static __host__ __device__ inline float reading(int kind, float v) {
    float x = v;
    if (kind == 0) {
        for (int k = 0; k < STEPS; k++)
            x = x * 0.99f + sinf(x) * 0.01f;
    } else if (kind == 1) {
        for (int k = 0; k < STEPS; k++)
            x = sqrtf(x * x + v * 0.1f) * 0.9f;
    } else if (kind == 2) {
        for (int k = 0; k < STEPS; k++)
            x = x - (x * x * x - v) / (3 * x * x + 1);
    } else {
        for (int k = 0; k < STEPS; k++)
            x = logf(1 + x) + 0.3f * v;
    }
    return x;
}

__global__ void sensors(const int *kinds, const float *volts, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = reading(kinds[i], volts[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sensors");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> volts = random_floats(n, 0.5f, 2, 1);
    std::vector<int> kinds(n);
    unsigned seed = 2;
    for (int &k : kinds)
        k = lcg_next(&seed, 1 << 16) >> 14;
#ifdef AFTER
    std::sort(kinds.begin(), kinds.end());
#endif
    int *d_kinds = device_copy_of(kinds.data(), n);
    float *d_volts = device_copy_of(volts.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { sensors<<<n / BLOCK, BLOCK>>>(d_kinds, d_volts, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 997)
        pair_near(&p, "reading", i, reading(kinds[i], volts[i]), out[i], 1e-3);
    return pair_end(&p);
}
