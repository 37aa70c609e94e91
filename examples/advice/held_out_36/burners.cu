// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powers, exponentials, logarithms and quotients of the reaction rates are computed by __powf, __expf,
// __log10f and __fdividef.
// Why: each of them is a few instructions around one or two of the special function unit instead of dozens with range
// tests; the rate constants themselves are known to a few percent only.
#include "../common.h"

// Heat release in the cells of a gas burner: for each cell all reactions of a mechanism are evaluated with modified
// Arrhenius rates, pressure-dependent fall-off with a Troe centre, and reverse rates from equilibrium constants.

constexpr int REACTIONS = 20;
constexpr int SPECIES = 9;
constexpr int THREADS = 128;

struct Reaction {
    float a, n, e;           // high-pressure rate a T^n exp(-e / T), T in units of 1000 K
    float a_low, n_low, e_low;  // low-pressure limit, per concentration of all species
    float centre;            // Troe's centre broadening; 0: no fall-off
    float ds, dh;            // entropy / R, enthalpy / R (in 1000 K)
    int from[2], to[2];      // species
};

__constant__ Reaction mechanism[REACTIONS];

#ifdef AFTER
__device__ float power(float x, float y) { return __powf(x, y); }
__device__ float exponential(float x) { return __expf(x); }
__device__ float logarithm(float x) { return __log10f(x); }
__device__ float quotient(float x, float y) { return __fdividef(x, y); }
#else
__device__ float power(float x, float y) { return powf(x, y); }
__device__ float exponential(float x) { return expf(x); }
__device__ float logarithm(float x) { return log10f(x); }
__device__ float quotient(float x, float y) { return x / y; }
#endif

__global__ void heat_release(const float *__restrict__ temperature, const float *__restrict__ concentration, int cells,
                             float *__restrict__ heat, float *__restrict__ fastest) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    float t = temperature[cell];
    float total = 0;
    for (int s = 0; s < SPECIES; s++)
        total += concentration[(size_t)s * cells + cell];

    float q = 0, top = 0;
    for (int r = 0; r < REACTIONS; r++) {
        const Reaction &m = mechanism[r];
        float forward = m.a * power(t, m.n) * exponential(quotient(-m.e, t));
        if (m.centre > 0) {
            float low = m.a_low * power(t, m.n_low) * exponential(quotient(-m.e_low, t));
            float reduced = quotient(low * total, forward);
            float lg = logarithm(reduced + 1e-20f);
            float width = 0.75f - 1.27f * logarithm(m.centre);
            float exponent = quotient(1.0f, 1.0f + quotient(lg * lg, width * width));
            forward *= quotient(reduced, 1.0f + reduced) * power(m.centre, exponent);
        }
        float backward = quotient(forward, exponential(m.ds - quotient(m.dh, t)));
        float rate = forward * concentration[(size_t)m.from[0] * cells + cell] *
                         concentration[(size_t)m.from[1] * cells + cell] -
                     backward * concentration[(size_t)m.to[0] * cells + cell] *
                         concentration[(size_t)m.to[1] * cells + cell];
        q -= rate * m.dh;
        top = fmaxf(top, forward);
    }
    heat[cell] = q;
    fastest[cell] = top;
}

static std::vector<Reaction> make_mechanism() {
    unsigned seed = 31;
    auto between = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 10000) / 10000.0f; };
    std::vector<Reaction> all(REACTIONS);
    for (int r = 0; r < REACTIONS; r++) {
        Reaction &m = all[r];
        m.a = between(1, 20), m.n = between(-1.5f, 2.5f), m.e = between(0, 8);
        m.a_low = between(1, 30), m.n_low = between(-3, 0), m.e_low = between(0, 3);
        m.centre = r % 3 == 1 ? between(0.3f, 0.8f) : 0.0f;
        m.ds = between(-1, 1), m.dh = between(-6, 2);
        for (int k = 0; k < 2; k++)
            m.from[k] = lcg_next(&seed, SPECIES), m.to[k] = lcg_next(&seed, SPECIES);
    }
    return all;
}

static void check(Pair *p, const std::vector<Reaction> &all, const std::vector<float> &temperature,
                  const std::vector<float> &c, const float *d_heat, const float *d_fastest) {
    size_t cells = temperature.size();
    std::vector<float> heat = host_copy_of(d_heat, cells), fastest = host_copy_of(d_fastest, cells);
    for (size_t i = 0; i < cells; i += p->small ? 1 : 211) {
        double t = temperature[i], total = 0, q = 0, top = 0;
        for (int s = 0; s < SPECIES; s++)
            total += c[s * cells + i];
        for (const Reaction &m : all) {
            double forward = m.a * pow(t, m.n) * exp(-m.e / t);
            if (m.centre > 0) {
                double reduced = m.a_low * pow(t, m.n_low) * exp(-m.e_low / t) * total / forward;
                double x = log10(reduced + 1e-20) / (0.75 - 1.27 * log10(m.centre));
                forward *= reduced / (1 + reduced) * pow(m.centre, 1 / (1 + x * x));
            }
            double backward = forward / exp(m.ds - m.dh / t);
            q -= m.dh * (forward * c[m.from[0] * cells + i] * c[m.from[1] * cells + i] -
                         backward * c[m.to[0] * cells + i] * c[m.to[1] * cells + i]);
            top = std::max(top, forward);
        }
        pair_near(p, "heat", i, q, heat[i], 1e-3);
        pair_near(p, "fastest", i, top, fastest[i], 1e-3);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "burners");
    int cells = p.small ? 3 * THREADS : 1 << 19;
    std::vector<Reaction> all = make_mechanism();
    std::vector<float> temperature = random_floats(cells, 0.6f, 2.4f, 5);
    std::vector<float> concentration = random_floats((size_t)cells * SPECIES, 0.0f, 0.5f, 6);

    CUDA_CHECK(cudaMemcpyToSymbol(mechanism, all.data(), sizeof mechanism));
    float *d_temperature = device_copy_of(temperature.data(), temperature.size());
    float *d_concentration = device_copy_of(concentration.data(), concentration.size());
    float *d_heat = device_array<float>(cells), *d_fastest = device_array<float>(cells);

    pair_time(&p, [&] {
        heat_release<<<(cells + THREADS - 1) / THREADS, THREADS>>>(d_temperature, d_concentration, cells, d_heat,
                                                                   d_fastest);
    });
    check(&p, all, temperature, concentration, d_heat, d_fastest);

    CUDA_CHECK(cudaFree(d_temperature));
    CUDA_CHECK(cudaFree(d_concentration));
    CUDA_CHECK(cudaFree(d_heat));
    CUDA_CHECK(cudaFree(d_fastest));
    return pair_end(&p);
}
