// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: exponential and division are the fast ones.
// Why: expf and the division are exact to the last bit, of which the wake model is not sure in the second.
#include "../common.h"

enum { BLOCK = 128, TURBINES = 96 };

#ifdef AFTER
#define EXP __expf
#define DIVIDE __fdividef
#else
#define EXP expf
#define DIVIDE(a, b) ((a) / (b))
#endif

// What is left of the wind at each place behind the turbines.
__global__ void wind_farm(const float *x, const float *y, const float *turbines, float *out) {
    __shared__ float at[2 * TURBINES];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int t = threadIdx.x; t < 2 * TURBINES; t += BLOCK)
        at[t] = turbines[t];
    __syncthreads();
    float lost = 0;
    for (int t = 0; t < TURBINES; t++) {
        float behind = 1.0f + fabsf(x[i] - at[2 * t]), aside = y[i] - at[2 * t + 1], wide = 0.4f + 0.04f * behind;
        lost += DIVIDE(EXP(DIVIDE(-aside * aside, wide * wide)), wide * wide);
    }
    out[i] = 1.0f / (1.0f + lost);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wind_farm");
    int n = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> x = random_floats(n, 0, 10, 1), y = random_floats(n, 0, 10, 2),
                       turbines = random_floats(2 * TURBINES, 0, 10, 3);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n),
          *d_turbines = device_copy_of(turbines.data(), turbines.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { wind_farm<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_turbines, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 307) {
        double lost = 0;
        for (int t = 0; t < TURBINES; t++) {
            double aside = y[i] - turbines[2 * t + 1], wide = 0.4 + 0.04 * (1 + fabs(x[i] - turbines[2 * t]));
            lost += exp(-aside * aside / (wide * wide)) / (wide * wide);
        }
        pair_near(&p, "wind", i, 1 / (1 + lost), out[i], 1e-4);
    }
    return pair_end(&p);
}
