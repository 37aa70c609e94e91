// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the weather of the next day is loaded before the present day is computed.
// Why: a day's computation waits for its own loads, with few warps on an SM to fill the time.
#include "../common.h"

struct Catchment {
    float melt_per_degree, field_capacity, beta, fast, slow, seep;
};

struct Weather {
    float rain, temperature, evaporation;
};

struct Store {
    float snow = 0, soil = 60, upper = 5, lower = 20;
};

// One day of the HBV model of a catchment; returns the river's flow in millimetres.
__host__ __device__ inline float one_day(Store &s, const Catchment &c, const Weather &w) {
    float water = w.rain;
    if (w.temperature < 0) {
        s.snow += water;
        water = 0;
    } else {
        float melt = fminf(s.snow, c.melt_per_degree * w.temperature);
        s.snow -= melt;
        water += melt;
    }
    float wetness = fminf(s.soil / c.field_capacity, 1.0f);
    float recharge = water * powf(wetness, c.beta);
    s.soil += water - recharge;
    s.soil -= fminf(s.soil, w.evaporation * fminf(s.soil / (0.7f * c.field_capacity), 1.0f));
    s.upper += recharge;
    float down = fminf(s.upper, c.seep);
    s.upper -= down;
    s.lower += down;
    float quick = c.fast * s.upper, base = c.slow * s.lower;
    s.upper -= quick;
    s.lower -= base;
    return quick + base;
}

__global__ void headwaters(const Catchment *catchments, const float *rain, const float *temperature,
                           const float *evaporation, float *flow, int count, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Catchment c = catchments[i];
    Store store;
#ifdef AFTER
    Weather next = {rain[i], temperature[i], evaporation[i]};
    for (int day = 0; day < days; day++) {
        size_t at = (size_t)day * count + i;
        Weather weather = next;
        if (day + 1 < days)
            next = {rain[at + count], temperature[at + count], evaporation[at + count]};
        flow[at] = one_day(store, c, weather);
    }
#else
    for (int day = 0; day < days; day++) {
        size_t at = (size_t)day * count + i;
        Weather weather = {rain[at], temperature[at], evaporation[at]};
        flow[at] = one_day(store, c, weather);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "headwaters");
    const int count = p.small ? 700 : 27000, days = p.small ? 45 : 1096, block = 128;
    const size_t values = (size_t)count * days;
    std::vector<float> rain = random_floats(values, -12, 18, 1), evaporation = random_floats(values, 0, 5, 2);
    std::vector<float> temperature = random_floats(values, -6, 6, 3);
    for (float &r : rain)
        r = std::max(r, 0.0f);
    for (size_t k = 0; k < values; k++)
        temperature[k] += 5 - 9 * cosf(0.0172f * (k / count));
    std::vector<Catchment> catchments(count);
    unsigned seed = 4;
    for (Catchment &c : catchments) {
        c.melt_per_degree = 1.5f + 0.01f * lcg_next(&seed, 300);
        c.field_capacity = 100.0f + lcg_next(&seed, 200);
        c.beta = 1.2f + 0.01f * lcg_next(&seed, 250);
        c.fast = 0.05f + 0.001f * lcg_next(&seed, 250);
        c.slow = 0.005f + 0.0001f * lcg_next(&seed, 400);
        c.seep = 0.5f + 0.01f * lcg_next(&seed, 200);
    }
    Catchment *d_catchments = device_copy_of(catchments.data(), count);
    float *d_rain = device_copy_of(rain.data(), values), *d_temperature = device_copy_of(temperature.data(), values);
    float *d_evaporation = device_copy_of(evaporation.data(), values), *d_flow = device_array<float>(values);
    pair_time(&p, [&] {
        headwaters<<<(count + block - 1) / block, block>>>(d_catchments, d_rain, d_temperature, d_evaporation, d_flow,
                                                           count, days);
    });
    std::vector<float> flow = host_copy_of(d_flow, values);
    for (int i = 0; i < count; i += p.small ? 23 : 401) {
        Store store;
        for (int day = 0; day < days; day++) {
            size_t at = (size_t)day * count + i;
            float expected = one_day(store, catchments[i], {rain[at], temperature[at], evaporation[at]});
            pair_near(&p, "flow", at, expected, flow[at], 2e-3);
        }
    }
    return pair_end(&p);
}
