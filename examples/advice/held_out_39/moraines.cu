// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: what does not change from day to day (the cell's glacier and its constants) is read once before the loop.
// Why: the loop writes runoff, which could for all the compiler knows overlap the constants, so that it fetches the
//      number of the glacier and the seven values that depend on it again for every day of the year.
#include "../common.h"

enum { BLOCK = 256 };

struct Glacier {
    float snow_factor, ice_ratio;   // mm of melt of snow a degree and day; ice to snow
    float lapse, only_rain, blend;  // degrees a metre; degrees; share of snow a degree below that
    float storage;                  // share of the stored water that leaves a day
    float refreeze;                 // share of the melt of snow that freezes again
};

struct State {
    float snow, water, mass;
};

__host__ __device__ static inline float snow_share(const Glacier &g, float temperature) {
    return fminf(fmaxf((g.only_rain - temperature) * g.blend, 0.f), 1.f);
}

// One day of a cell; returns what runs off.
__host__ __device__ static inline float day_of(const Glacier &g, State *s, float height, float temperature,
                                               float precipitation) {
    float here = temperature + g.lapse * height;
    float snowfall = precipitation * snow_share(g, here), rain = precipitation - snowfall;
    float could_melt = fmaxf(here, 0.f) * g.snow_factor;
    s->snow += snowfall;
    float snow_melt = fminf(s->snow, could_melt);
    float ice_melt = (could_melt - snow_melt) * g.ice_ratio;  // with what the snow leaves
    float frozen = snow_melt * g.refreeze;
    s->snow -= snow_melt - frozen;
    s->water += rain + snow_melt - frozen + ice_melt;
    s->mass += snowfall - (snow_melt - frozen) - ice_melt;
    float runoff = s->water * g.storage;
    s->water -= runoff;
    return runoff;
}

// The daily runoff and the balance of a year for every cell of the grid; height is above the weather station.
__global__ void melt_year(const Glacier *glaciers, const int *glacier_of, const float *height, const float2 *weather,
                          float *runoff, float *balance, int cells, int days) {
    int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= cells) return;
    State state = {0, 0, 0};
#ifdef AFTER
    Glacier g = glaciers[glacier_of[c]];
    float h = height[c];
#endif
    for (int day = 0; day < days; day++) {
#ifndef AFTER
        Glacier g = glaciers[glacier_of[c]];
        float h = height[c];
#endif
        float2 today = weather[day];
        runoff[(size_t)day * cells + c] = day_of(g, &state, h, today.x, today.y);
    }
    balance[c] = state.mass;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "moraines");
    int cells = p.small ? 1024 : 128 * 1024, days = p.small ? 50 : 365, count = 400;
    std::vector<float> odds = random_floats((size_t)count * 5, 0, 1, 21), height = random_floats(cells, -400, 1200, 22);
    std::vector<float> noise = random_floats((size_t)days * 2, 0, 1, 23);
    std::vector<Glacier> glaciers(count);
    for (int i = 0; i < count; i++) {
        const float *o = &odds[(size_t)i * 5];
        glaciers[i] = {3 + 2 * o[0], 1.5f + o[1], -0.0055f - 0.002f * o[2], 2, 0.5f, 0.1f + 0.3f * o[3], 0.3f * o[4]};
    }
    std::vector<int> glacier_of(cells);
    for (int c = 0; c < cells; c++)
        glacier_of[c] = (int)((c / 37 * 2654435761u >> 8) % count);  // cells of a glacier are neighbours
    std::vector<float2> weather(days);
    for (int day = 0; day < days; day++)
        weather[day] = make_float2(4 - 9 * cosf(6.2832f * day / days) + 6 * (noise[(size_t)day * 2] - 0.5f),
                                   fmaxf(0, 30 * (noise[(size_t)day * 2 + 1] - 0.6f)));
    Glacier *d_glaciers = device_copy_of(glaciers.data(), count);
    int *d_glacier_of = device_copy_of(glacier_of.data(), cells);
    float *d_height = device_copy_of(height.data(), cells);
    float2 *d_weather = device_copy_of(weather.data(), days);
    float *d_runoff = device_array<float>((size_t)days * cells), *d_balance = device_array<float>(cells);
    int blocks = (cells + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] {
        melt_year<<<blocks, BLOCK>>>(d_glaciers, d_glacier_of, d_height, d_weather, d_runoff, d_balance, cells, days);
    });
    std::vector<float> runoff = host_copy_of(d_runoff, (size_t)days * cells), balance = host_copy_of(d_balance, cells);
    for (int c = 0; c < cells; c += p.small ? 1 : 173) {
        State state = {0, 0, 0};
        for (int day = 0; day < days; day++) {
            float today = day_of(glaciers[glacier_of[c]], &state, height[c], weather[day].x, weather[day].y);
            pair_near(&p, "runoff", (size_t)day * cells + c, today, runoff[(size_t)day * cells + c], 2e-3);
        }
        pair_near(&p, "balance", c, state.mass, balance[c], 2e-3);
    }
    return pair_end(&p);
}
