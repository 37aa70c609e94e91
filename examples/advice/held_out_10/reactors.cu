// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: a thread may have as many registers as it needs.
// Why: __launch_bounds__ asks for so many blocks that what 40 tanks hold does not fit the registers.
#include "../common.h"

enum { BLOCK = 128, TANKS = 40, STEPS = 32 };

#ifdef AFTER
#define BLOCKS_AT_LEAST 4
#else
#define BLOCKS_AT_LEAST 14
#endif

// Tanks that flow into each other, one row of them for each thread.
__global__ void __launch_bounds__(BLOCK, BLOCKS_AT_LEAST) reactors(const float *start, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float tank[TANKS];
#pragma unroll
    for (int t = 0; t < TANKS; t++)
        tank[t] = start[t * n + i];
#pragma unroll 1
    for (int s = 0; s < STEPS; s++) {
        float last = tank[TANKS - 1];
#pragma unroll
        for (int t = TANKS - 1; t > 0; t--)
            tank[t] += 0.1f * (tank[t - 1] - tank[t]) - 0.01f * tank[t] * tank[t];
        tank[0] += 0.1f * (last - tank[0]);
    }
    float sum = 0;
#pragma unroll
    for (int t = 0; t < TANKS; t++)
        sum += tank[t] * (float)(t + 1);
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reactors");
    int n = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> start = random_floats((size_t)n * TANKS, 0, 1, 1);
    float *d_start = device_copy_of(start.data(), start.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { reactors<<<n / BLOCK, BLOCK>>>(d_start, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 61) {
        double tank[TANKS], sum = 0;
        for (int t = 0; t < TANKS; t++)
            tank[t] = start[(size_t)t * n + i];
        for (int s = 0; s < STEPS; s++) {
            double last = tank[TANKS - 1];
            for (int t = TANKS - 1; t > 0; t--)
                tank[t] += 0.1 * (tank[t - 1] - tank[t]) - 0.01 * tank[t] * tank[t];
            tank[0] += 0.1 * (last - tank[0]);
        }
        for (int t = 0; t < TANKS; t++)
            sum += tank[t] * (t + 1);
        pair_near(&p, "sum", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
