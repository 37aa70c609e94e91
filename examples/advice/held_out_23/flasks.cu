// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powers, the exponential, the logarithm and the divisions are the fast intrinsics.
// Why: the rate constants are nothing but these; the exact powers alone take a hundred instructions each, and the
// constants of the reactions are known to a few per cent.
#include "../common.h"

#ifdef AFTER
#define POWER(x, y) __powf(x, y)
#define EXP(x) __expf(x)
#define LOG10(x) __log10f(x)
#define RATIO(x, y) __fdividef(x, y)
#else
#define POWER(x, y) powf(x, y)
#define EXP(x) expf(x)
#define LOG10(x) log10f(x)
#define RATIO(x, y) ((x) / (y))
#endif

enum { BLOCK = 192, MOST = 48 };

struct Reaction {
    float factor, power, barrier, third, third_power, heat;
};

__constant__ Reaction reactions[MOST];

// How fast the reactions in each flask go at its temperature (in 1000 K) and pressure, and the heat that they give;
// collisions limit them at low pressure.
__global__ void brew(const float *temperature, const float *pressure, float *heat, float *fastest, int flasks,
                     int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= flasks)
        return;
    float t = temperature[i], density = RATIO(pressure[i], t), sum = 0, top = 0;
    for (int k = 0; k < count; k++) {
        const Reaction &r = reactions[k];
        float high = r.factor * POWER(t, r.power) * EXP(RATIO(-r.barrier, t));
        float low = r.third * POWER(t, r.third_power) * density;
        float reduced = RATIO(low, high);
        float decade = LOG10(reduced);
        float broad = POWER(0.6f, RATIO(1.0f, 1 + decade * decade));
        float rate = high * broad * RATIO(reduced, 1 + reduced);
        sum += r.heat * rate;
        top = fmaxf(top, rate);
    }
    heat[i] = sum;
    fastest[i] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "flasks");
    int n = p.small ? 4000 : 132 * 1920 * 4, count = p.small ? 6 : 40;
    std::vector<float> temperature = random_floats(n, 0.5f, 2.5f, 1), pressure = random_floats(n, 0.2f, 5, 2),
                       random = random_floats(6 * MOST, 0, 1, 3);
    Reaction host[MOST];
    for (int k = 0; k < MOST; k++) {
        const float *q = &random[6 * k];
        host[k] = {0.5f + 2 * q[0], 2 * q[1] - 0.5f, 0.3f + 6 * q[2], 0.2f + q[3], -1.5f * q[4], q[5] - 0.3f};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(reactions, host, sizeof host));
    float *d_temperature = device_copy_of(temperature.data(), n), *d_pressure = device_copy_of(pressure.data(), n),
          *d_heat = device_array<float>(n), *d_fastest = device_array<float>(n);
    int blocks = (n + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { brew<<<blocks, BLOCK>>>(d_temperature, d_pressure, d_heat, d_fastest, n, count); });
    std::vector<float> heat = host_copy_of(d_heat, n), fastest = host_copy_of(d_fastest, n);
    for (int i = 0; i < n; i += p.small ? 1 : 199) {
        double t = temperature[i], sum = 0, top = 0;
        for (int k = 0; k < count; k++) {
            const Reaction &r = host[k];
            double high = r.factor * pow(t, r.power) * exp(-r.barrier / t);
            double reduced = r.third * pow(t, r.third_power) * pressure[i] / t / high, decade = log10(reduced);
            double rate = high * pow(0.6, 1 / (1 + decade * decade)) * reduced / (1 + reduced);
            sum += r.heat * rate;
            top = std::max(top, rate);
        }
        pair_near(&p, "heat", i, sum, heat[i], 1e-3);
        pair_near(&p, "fastest", i, top, fastest[i], 1e-3);
    }
    return pair_end(&p);
}
