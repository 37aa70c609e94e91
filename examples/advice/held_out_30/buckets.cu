// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the rain and evaporation of the next day are loaded before this day is computed.
// Why: the loads are under way during the long chain of one day instead of being waited for at its start.
#include "../common.h"

enum { BLOCK = 128 };

struct Soil {
    float capacity, shape, fast, slow;
};

// Bucket model of a catchment's water: one thread marches one catchment through all days.
__global__ void march(const Soil *soils, const float *rain, const float *evaporation, float *flow, int n, int days) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Soil s = soils[i];
    float upper = 0.3f * s.capacity, lower = 20;
#ifdef AFTER
    float next_rain = rain[i], next_evaporation = evaporation[i];
#endif
    for (int day = 0; day < days; day++) {
#ifdef AFTER
        float r = next_rain, e = next_evaporation;
        if (day + 1 < days) {
            next_rain = rain[(day + 1) * n + i];
            next_evaporation = evaporation[(day + 1) * n + i];
        }
#else
        float r = rain[day * n + i], e = evaporation[day * n + i];
#endif
        float wet = fminf(upper / s.capacity, 1.0f);
        float recharge = r * powf(wet, s.shape);
        upper += r - recharge;
        upper -= fminf(upper, e * (1 - expf(-3 * upper / s.capacity)));
        float quick = s.fast * upper * sqrtf(upper / s.capacity);
        upper = fmaxf(upper - quick, 0.01f);
        lower += recharge;
        float base = s.slow * lower * (1 - expf(-lower / 50));
        lower -= base;
        flow[day * n + i] = quick + base;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "buckets");
    int n = p.small ? 500 : 40000, days = p.small ? 20 : 365;
    std::vector<float> rain = random_floats((size_t)n * days, 0, 20, 1);
    std::vector<float> evaporation = random_floats((size_t)n * days, 0, 5, 2);
    std::vector<float> r = random_floats((size_t)n * 4, 0, 1, 3);
    std::vector<Soil> soils(n);
    for (int i = 0; i < n; i++)
        soils[i] = {100 + 200 * r[4 * i], 1 + 2 * r[4 * i + 1], 0.1f + 0.2f * r[4 * i + 2],
                    0.02f + 0.05f * r[4 * i + 3]};
    Soil *d_soils = device_copy_of(soils.data(), n);
    float *d_rain = device_copy_of(rain.data(), rain.size());
    float *d_evaporation = device_copy_of(evaporation.data(), evaporation.size());
    float *d_flow = device_array<float>((size_t)n * days);
    pair_time(&p, [&] { march<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_soils, d_rain, d_evaporation, d_flow, n, days); });
    std::vector<float> flow = host_copy_of(d_flow, (size_t)n * days);
    for (int i = 0; i < n; i += 97) {
        const Soil &s = soils[i];
        double upper = 0.3 * s.capacity, lower = 20;
        for (int day = 0; day < days; day++) {
            double water = rain[(size_t)day * n + i], e = evaporation[(size_t)day * n + i];
            double recharge = water * pow(std::min(upper / s.capacity, 1.0), s.shape);
            upper += water - recharge;
            upper -= std::min(upper, e * (1 - exp(-3 * upper / s.capacity)));
            double quick = s.fast * upper * sqrt(upper / s.capacity);
            upper = std::max(upper - quick, 0.01);
            lower += recharge;
            double base = s.slow * lower * (1 - exp(-lower / 50));
            lower -= base;
            pair_near(&p, "flow", (size_t)day * n + i, quick + base, flow[(size_t)day * n + i], 1e-3);
        }
    }
    return pair_end(&p);
}
