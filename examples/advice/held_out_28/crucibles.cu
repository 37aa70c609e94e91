// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the reactions of the mechanism are sorted by their kind of rate law before they go to the GPU.
// Why: a warp then evaluates one kind of rate law, not all four one after the other with most of its lanes off.
#include "../common.h"

enum { REACTIONS = 256, DEGREES = 12 };
enum Kind { ARRHENIUS, THIRD_BODY, FALLOFF, CHEBYSHEV };

struct Reaction {
    int kind;
    float log_a, power, activation;              // of the (high-pressure) limit; activation in kelvin
    float low_log_a, low_power, low_activation;  // of the low-pressure limit
    float centre;                                // of the falloff curve
    float series[DEGREES];                       // of 1/T (4 terms) times pressure (3 terms), log10 of the rate
};

struct Cell {
    float kelvin, bar;
};

__host__ __device__ inline float rate_of(const Reaction &r, Cell c) {
    float t = logf(c.kelvin), density = 12.0f * c.bar / c.kelvin * 100;
    switch (r.kind) {
    case ARRHENIUS: return expf(r.log_a + r.power * t - r.activation / c.kelvin);
    case THIRD_BODY:
        return density * expf(r.log_a + r.power * t - r.activation / c.kelvin) * (1 + 0.4f * tanhf(c.bar - 2));
    case FALLOFF: {
        float high = expf(r.log_a + r.power * t - r.activation / c.kelvin);
        float low = density * expf(r.low_log_a + r.low_power * t - r.low_activation / c.kelvin);
        float reduced = low / high, centre = log10f(r.centre), x = log10f(reduced) - 0.4f - 0.67f * centre;
        float shape = x / (0.75f - 1.27f * centre - 0.14f * x);
        return high * reduced / (1 + reduced) * powf(10.0f, centre / (1 + shape * shape));
    }
    default: {
        float u = (2 / c.kelvin - 1 / 3000.0f - 1 / 500.0f) / (1 / 3000.0f - 1 / 500.0f), v = log10f(c.bar) * 0.5f;
        float row[3], before[3] = {0, 0, 0}, now[3] = {0, 0, 0};  // Clenshaw, for the three terms of pressure
        for (int k = 3; k > 0; k--)
            for (int j = 0; j < 3; j++) {
                float next = 2 * u * now[j] - before[j] + r.series[3 * k + j];
                before[j] = now[j];
                now[j] = next;
            }
        for (int j = 0; j < 3; j++)
            row[j] = u * now[j] - before[j] + r.series[j];
        return powf(10.0f, row[0] + row[1] * v + row[2] * (2 * v * v - 1));
    }
    }
}

// Rates of all reactions of a mechanism in each cell of a crucible: a thread has one reaction, its block goes through
// the cells.
__global__ void __launch_bounds__(REACTIONS)
    reaction_rates(const Reaction *mechanism, const Cell *cells, float *rates, int count) {
    Reaction own = mechanism[threadIdx.x];
    for (int c = blockIdx.x; c < count; c += gridDim.x)
        rates[(size_t)c * REACTIONS + threadIdx.x] = rate_of(own, cells[c]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crucibles");
    int count = p.small ? 60 : 70000, blocks = p.small ? 12 : 132 * 8;
    std::vector<Reaction> mechanism(REACTIONS);
    unsigned seed = 9;
    auto between = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 10007) / 10006; };
    for (Reaction &r : mechanism) {
        unsigned d = lcg_next(&seed, 100);
        r.kind = d < 35 ? ARRHENIUS : d < 60 ? THIRD_BODY : d < 82 ? FALLOFF : CHEBYSHEV;
        r.log_a = between(0, 3);
        r.power = between(-0.3f, 0.4f);
        r.activation = between(100, 2500);
        r.low_log_a = between(0, 3);
        r.low_power = between(-0.3f, 0.3f);
        r.low_activation = between(0, 1200);
        r.centre = between(0.3f, 0.9f);
        for (int k = 0; k < DEGREES; k++)
            r.series[k] = between(-0.5f, 0.5f) / (1 + k / 3);
    }
#ifdef AFTER
    std::stable_sort(mechanism.begin(), mechanism.end(),
                     [](const Reaction &a, const Reaction &b) { return a.kind < b.kind; });
#endif
    std::vector<Cell> cells(count);
    for (Cell &c : cells)
        c = {between(600, 2600), between(0.5f, 20)};
    Reaction *d_mechanism = device_copy_of(mechanism.data(), REACTIONS);
    Cell *d_cells = device_copy_of(cells.data(), count);
    float *d_rates = device_array<float>((size_t)count * REACTIONS);
    pair_time(&p, [&] { reaction_rates<<<blocks, REACTIONS>>>(d_mechanism, d_cells, d_rates, count); });
    std::vector<float> rates = host_copy_of(d_rates, (size_t)count * REACTIONS);
    for (size_t i = 0; i < rates.size(); i += p.small ? 17 : 1013)
        pair_near(&p, "rate", i, rate_of(mechanism[i % REACTIONS], cells[i / REACTIONS]), rates[i], 1e-3);
    return pair_end(&p);
}
