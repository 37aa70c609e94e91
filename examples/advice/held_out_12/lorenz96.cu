// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the kernel is no longer held to eight blocks on each SM.
// Why: six slopes of eight variables do not fit the 32 registers that eight blocks leave to a thread.
#include "../common.h"

enum { BLOCK = 256, VARIABLES = 8, STAGES = 6 };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 8)
#endif

// Cash and Karp's method of fifth order.
static __host__ __device__ constexpr float slope_weight(int stage, int from) {
    constexpr float weights[STAGES][STAGES] = {
        {},
        {1.0f / 5},
        {3.0f / 40, 9.0f / 40},
        {3.0f / 10, -9.0f / 10, 6.0f / 5},
        {-11.0f / 54, 5.0f / 2, -70.0f / 27, 35.0f / 27},
        {1631.0f / 55296, 175.0f / 512, 575.0f / 13824, 44275.0f / 110592, 253.0f / 4096}};
    return weights[stage][from];
}
static __host__ __device__ constexpr float sum_weight(int stage) {
    constexpr float weights[STAGES] = {37.0f / 378, 0, 250.0f / 621, 125.0f / 594, 0, 512.0f / 1771};
    return weights[stage];
}

template <typename Number> static __host__ __device__ inline void step(Number *state, float forcing, float dt) {
    Number slope[STAGES][VARIABLES], at[VARIABLES];
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
#pragma unroll
        for (int v = 0; v < VARIABLES; v++) {
            at[v] = state[v];
#pragma unroll
            for (int from = 0; from < s; from++)
                at[v] += dt * slope_weight(s, from) * slope[from][v];
        }
#pragma unroll
        for (int v = 0; v < VARIABLES; v++)
            slope[s][v] =
                (at[(v + 1) % VARIABLES] - at[(v + VARIABLES - 2) % VARIABLES]) * at[(v + VARIABLES - 1) % VARIABLES] -
                at[v] + forcing;
    }
#pragma unroll
    for (int v = 0; v < VARIABLES; v++)
#pragma unroll
        for (int s = 0; s < STAGES; s++)
            state[v] += dt * sum_weight(s) * slope[s][v];
}

// An ensemble of Lorenz's small weather model of 1996, each member with its own forcing.
__global__ void BOUNDS lorenz96(const float *start, const float *forcing, float *end, int n, int steps, float dt) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float state[VARIABLES], own = forcing[i];
    for (int v = 0; v < VARIABLES; v++)
        state[v] = start[v * n + i];
    for (int t = 0; t < steps; t++)
        step(state, own, dt);
    for (int v = 0; v < VARIABLES; v++)
        end[v * n + i] = state[v];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lorenz96");
    int n = p.small ? 1 << 10 : 1 << 18, steps = p.small ? 2 : 24;
    float dt = 0.01f;
    std::vector<float> start = random_floats((size_t)n * VARIABLES, -4, 8, 1), forcing = random_floats(n, 7, 9, 2);
    float *d_start = device_copy_of(start.data(), start.size()), *d_forcing = device_copy_of(forcing.data(), n),
          *d_end = device_array<float>(start.size());
    pair_time(&p, [&] { lorenz96<<<n / BLOCK, BLOCK>>>(d_start, d_forcing, d_end, n, steps, dt); });
    std::vector<float> end = host_copy_of(d_end, start.size());
    for (int i = 0; i < n; i += 509) {
        double state[VARIABLES];
        for (int v = 0; v < VARIABLES; v++)
            state[v] = start[(size_t)v * n + i];
        for (int t = 0; t < steps; t++)
            step(state, forcing[i], dt);
        for (int v = 0; v < VARIABLES; v++)
            pair_near(&p, "end", i, state[v], end[(size_t)v * n + i], 1e-3);
    }
    return pair_end(&p);
}
