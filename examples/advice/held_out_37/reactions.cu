// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the reaction mechanism is known to the compiler and its loop is unrolled, so that species have fixed places.
// Why: with species numbers read from a table, the mass fractions and their rates of change must lie in local memory;
// with constant numbers both arrays live in registers.
#include "../common.h"

// Hydrogen combustion, one cell of the flow solver a thread: explicit integration over one flow time step.
constexpr int SPECIES = 9;  // H2 O2 H O OH H2O HO2 H2O2 N2
constexpr int REACTIONS = 12;
constexpr int SUBSTEPS = 24;
constexpr int THREADS = 128;

struct Reaction {
    int a, b, c, d;            // a + b -> c + d
    float factor, activation;  // rate = factor * exp(-activation / temperature), scaled units
};

#define MECHANISM                                                                                                      \
    {                                                                                                                  \
        {2, 1, 3, 4, 5.0f, 1.68f}, {3, 0, 2, 4, 3.5f, 0.63f}, {4, 0, 2, 5, 6.0f, 0.34f}, {3, 5, 4, 4, 2.8f, 1.34f},    \
            {4, 2, 3, 0, 1.4f, 0.55f}, {2, 6, 4, 4, 7.0f, 0.03f}, {2, 6, 0, 1, 1.6f, 0.08f},                           \
            {4, 6, 5, 1, 2.9f, 0.05f}, {6, 6, 7, 1, 0.4f, 1.20f}, {7, 2, 5, 4, 2.4f, 0.40f},                           \
            {7, 4, 5, 6, 1.0f, 0.10f}, {5, 2, 0, 4, 4.1f, 1.85f},                                                      \
    }

static const Reaction host_mechanism[REACTIONS] = MECHANISM;
#ifndef AFTER
__constant__ Reaction mechanism[REACTIONS];
#endif

__global__ void __launch_bounds__(THREADS) burn(float *__restrict__ fractions_out,
                                                const float *__restrict__ fractions_in,
                                                const float *__restrict__ temperatures, int cells, float dt) {
    int cell = blockIdx.x * THREADS + threadIdx.x;
    if (cell >= cells)
        return;
#ifdef AFTER
    constexpr Reaction mechanism[REACTIONS] = MECHANISM;
#endif
    float y[SPECIES], rates[REACTIONS];
#pragma unroll
    for (int s = 0; s < SPECIES; s++)
        y[s] = fractions_in[(size_t)s * cells + cell];
    float inverse = -1.0f / temperatures[cell];
#pragma unroll
    for (int r = 0; r < REACTIONS; r++)
        rates[r] = mechanism[r].factor * __expf(mechanism[r].activation * inverse);

    for (int step = 0; step < SUBSTEPS; step++) {
        float change[SPECIES];
#pragma unroll
        for (int s = 0; s < SPECIES; s++)
            change[s] = 0;
#pragma unroll
        for (int r = 0; r < REACTIONS; r++) {
            float progress = rates[r] * y[mechanism[r].a] * y[mechanism[r].b];
            change[mechanism[r].a] -= progress;
            change[mechanism[r].b] -= progress;
            change[mechanism[r].c] += progress;
            change[mechanism[r].d] += progress;
        }
#pragma unroll
        for (int s = 0; s < SPECIES; s++)
            y[s] = fmaxf(y[s] + dt * change[s], 0.0f);
    }
#pragma unroll
    for (int s = 0; s < SPECIES; s++)
        fractions_out[(size_t)s * cells + cell] = y[s];
}

static void burn_on_cpu(float *y, float temperature, float dt) {
    for (int step = 0; step < SUBSTEPS; step++) {
        float change[SPECIES] = {0};
        for (const Reaction &r : host_mechanism) {
            float progress = r.factor * expf(-r.activation / temperature) * y[r.a] * y[r.b];
            change[r.a] -= progress;
            change[r.b] -= progress;
            change[r.c] += progress;
            change[r.d] += progress;
        }
        for (int s = 0; s < SPECIES; s++)
            y[s] = std::max(y[s] + dt * change[s], 0.0f);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reactions");
    int cells = p.small ? 1000 : 1500000;
    const float dt = 0.05f;
    std::vector<float> fractions = random_floats((size_t)SPECIES * cells, 0.01f, 0.2f, 5);
    std::vector<float> temperatures = random_floats(cells, 0.8f, 2.4f, 6);

    float *d_in = device_copy_of(fractions.data(), fractions.size());
    float *d_temperatures = device_copy_of(temperatures.data(), cells);
    float *d_out = device_array<float>(fractions.size());
#ifndef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(mechanism, host_mechanism, sizeof host_mechanism));
#endif

    int grid = (cells + THREADS - 1) / THREADS;
    pair_time(&p, [&] { burn<<<grid, THREADS>>>(d_out, d_in, d_temperatures, cells, dt); });

    std::vector<float> out = host_copy_of(d_out, fractions.size());
    for (int cell = 0; cell < cells; cell += p.small ? 7 : 1009) {
        float y[SPECIES];
        for (int s = 0; s < SPECIES; s++)
            y[s] = fractions[(size_t)s * cells + cell];
        burn_on_cpu(y, temperatures[cell], dt);
        for (int s = 0; s < SPECIES; s++)
            pair_near(&p, "fraction", (size_t)s * cells + cell, y[s], out[(size_t)s * cells + cell], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_temperatures));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
