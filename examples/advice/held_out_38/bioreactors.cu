// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: CTAs of 128 threads, not of 1024.
// Why: 1024 threads leave 64 registers a thread, and the matrix of the implicit step alone needs 81; the compiler keeps
// a part of it in local memory. In smaller CTAs a thread may have the registers that it wants.
#include "../common.h"

// Fermentation in a mesh of well-mixed compartments: in each one, nine concentrations react (Monod kinetics), and an
// operator-split step integrates them by linearly implicit Euler steps, whose matrix is factorised in place.

#ifdef AFTER
constexpr int THREADS = 128;
#else
constexpr int THREADS = 1024;
#endif
constexpr int SPECIES = 9;
constexpr int REACTIONS = 7;

struct Network {
    float rate[REACTIONS];               // per hour
    float half[REACTIONS];               // half saturation of the first reactant
    float yield[REACTIONS][SPECIES];     // stoichiometry
    float inflow[SPECIES];
    float dilution;                      // per hour
};

// What each reaction consumes and who does it
#define REACTION_PARTNERS \
    constexpr int substrate[REACTIONS] = {0, 1, 2, 3, 4, 5, 6}; \
    constexpr int biomass[REACTIONS] = {7, 7, 8, 8, 7, 8, 7}

__host__ __device__ inline void implicit_step(float *state, const Network &net, float warmth, float step) {
    REACTION_PARTNERS;
    float matrix[SPECIES][SPECIES], change[SPECIES];
#pragma unroll
    for (int i = 0; i < SPECIES; i++) {
        change[i] = step * net.dilution * (net.inflow[i] - state[i]);
#pragma unroll
        for (int j = 0; j < SPECIES; j++)
            matrix[i][j] = i == j ? 1.0f + step * net.dilution : 0.0f;
    }
#pragma unroll
    for (int r = 0; r < REACTIONS; r++) {
        float s = state[substrate[r]], x = state[biomass[r]];
        float share = 1.0f / (net.half[r] + s);
        float speed = step * warmth * net.rate[r];
        float flow = speed * s * share * x;
        float by_substrate = speed * net.half[r] * share * share * x;
        float by_biomass = speed * s * share;
#pragma unroll
        for (int i = 0; i < SPECIES; i++) {
            change[i] += net.yield[r][i] * flow;
            matrix[i][substrate[r]] -= net.yield[r][i] * by_substrate;
            matrix[i][biomass[r]] -= net.yield[r][i] * by_biomass;
        }
    }
    // (1 - step J) change = step f, diagonally dominant enough not to need pivots
#pragma unroll
    for (int k = 0; k < SPECIES; k++) {
        float inverse = 1.0f / matrix[k][k];
#pragma unroll
        for (int i = k + 1; i < SPECIES; i++) {
            float factor = matrix[i][k] * inverse;
#pragma unroll
            for (int j = k + 1; j < SPECIES; j++)
                matrix[i][j] -= factor * matrix[k][j];
            change[i] -= factor * change[k];
        }
        matrix[k][k] = inverse;
    }
#pragma unroll
    for (int k = SPECIES - 1; k >= 0; k--) {
#pragma unroll
        for (int j = k + 1; j < SPECIES; j++)
            change[k] -= matrix[k][j] * change[j];
        change[k] *= matrix[k][k];
    }
#pragma unroll
    for (int i = 0; i < SPECIES; i++)
        state[i] = fmaxf(state[i] + change[i], 0.0f);
}

// concentration: [species][compartment]
__global__ void __launch_bounds__(THREADS)
ferment(const float *__restrict__ before, const float *__restrict__ temperature, Network net, float step, int steps,
        int compartments, float *__restrict__ after) {
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= compartments)
        return;
    float state[SPECIES];
#pragma unroll
    for (int i = 0; i < SPECIES; i++)
        state[i] = before[(size_t)i * compartments + c];
    float warmth = exp2f(0.1f * (temperature[c] - 37.0f));
    for (int t = 0; t < steps; t++)
        implicit_step(state, net, warmth, step);
#pragma unroll
    for (int i = 0; i < SPECIES; i++)
        after[(size_t)i * compartments + c] = state[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bioreactors");
    const int compartments = p.small ? 2048 : 132 * 2048, steps = p.small ? 3 : 40;
    const float step = 0.02f;

    Network net = {
        {2.1f, 1.4f, 0.9f, 3.0f, 0.6f, 1.1f, 0.8f}, {0.5f, 0.3f, 1.2f, 0.1f, 0.7f, 0.4f, 0.9f}, {}, {}, 0.08f};
    unsigned seed = 8;
    for (int r = 0; r < REACTIONS; r++) {
        for (int i = 0; i < SPECIES; i++)  // by-products, some of which are taken up again
            net.yield[r][i] = 0.001f * ((int)lcg_next(&seed, 140) - 20);
        net.yield[r][r] = -1.0f;
        net.yield[r][r < 2 || r == 4 || r == 6 ? 7 : 8] = 0.25f;
    }
    for (int i = 0; i < SPECIES; i++)
        net.inflow[i] = i < 3 ? 4.0f : 0.1f;
    std::vector<float> state = random_floats((size_t)SPECIES * compartments, 0.2f, 3.0f, 15);
    std::vector<float> temperature = random_floats(compartments, 30.0f, 40.0f, 16);

    float *d_state = device_copy_of(state.data(), state.size());
    float *d_temperature = device_copy_of(temperature.data(), compartments);
    float *d_result = device_array<float>(state.size());
    pair_time(&p, [&] {
        ferment<<<(compartments + THREADS - 1) / THREADS, THREADS>>>(d_state, d_temperature, net, step, steps,
                                                                     compartments, d_result);
    });

    std::vector<float> result = host_copy_of(d_result, state.size());
    for (int c = 0; c < compartments; c += p.small ? 1 : 131) {
        float expected[SPECIES], warmth = exp2f(0.1f * (temperature[c] - 37.0f));
        for (int i = 0; i < SPECIES; i++)
            expected[i] = state[(size_t)i * compartments + c];
        for (int t = 0; t < steps; t++)
            implicit_step(expected, net, warmth, step);
        for (int i = 0; i < SPECIES; i++)
            pair_near(&p, "concentration", (size_t)i * compartments + c, expected[i],
                      result[(size_t)i * compartments + c], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_state));
    CUDA_CHECK(cudaFree(d_temperature));
    CUDA_CHECK(cudaFree(d_result));
    return pair_end(&p);
}
