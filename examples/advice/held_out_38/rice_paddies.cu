// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the paddy's soil record is copied to local variables before the season instead of being read through a
// reference every day.
// Why: the diary that is written every day might overlap the soils for all the compiler knows, so that it loads the
// ten numbers again each day, although they never change.
#include "../common.h"

// Water and nitrogen of rice paddies over a season: a thread keeps the diary of one paddy, in which is
// how high the water stands day by day.
constexpr int THREADS = 128;

struct Soil {
    float seepage, bund, trigger, refill;      // mm a day, mm, mm, mm
    float field_capacity, crack;               // mm, mm
    float mineralised, fixed, leaching, loss;  // kg N a day and shares
};

struct __align__(16) Weather {
    float rain, evaporation, celsius, light;
};

struct Paddy {
    float ponded, stored;     // water above and in the soil, mm
    float nitrogen, biomass;  // kg, t
};

__host__ __device__ inline void grow(Paddy *p, const Soil &soil, const Weather &w, float cover) {
    float water = p->ponded + w.rain;
    if (water < soil.trigger)
        water += fminf(1.5f * (soil.trigger - water), soil.refill);
    float spilled = fmaxf(water - soil.bund, 0.0f);
    water -= spilled;
    float seep = fminf(water, soil.seepage * (1.0f + 0.002f * water));
    if (p->stored < soil.crack)
        seep = fminf(water, seep + 0.5f * (soil.crack - p->stored));
    water -= seep;
    float thirst = w.evaporation * (0.4f + 0.6f * cover), from_pond = fminf(thirst, water);
    p->ponded = water - from_pond;
    p->stored += fminf(seep, 0.3f * (soil.field_capacity - p->stored)) - 0.5f * (thirst - from_pond);
    float warmth = fmaxf(w.celsius - 8.0f, 0.0f) * 0.05f;
    float supply = soil.mineralised * warmth + soil.fixed * w.light;
    float gone = p->nitrogen * (soil.leaching * seep + soil.loss * spilled);
    float uptake = 0.04f * p->nitrogen * cover * warmth;
    p->nitrogen += supply - gone - uptake;
    p->biomass += w.light * cover * fminf(0.004f + 0.003f * uptake, 0.01f);
}

__global__ void __launch_bounds__(THREADS) keep_diaries(const Soil *soils, const int *soil_of, const Weather *weather,
                                                        int paddies, int days, float *diary, float *harvest) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= paddies)
        return;
#ifdef AFTER
    const Soil soil = soils[soil_of[i]];
#else
    const Soil &soil = soils[soil_of[i]];
#endif
    Paddy paddy = {30.0f, 120.0f, 45.0f, 0.3f};
    for (int day = 0; day < days; day++) {
        float cover = fminf(0.15f + 0.02f * day, 1.0f);
        grow(&paddy, soil, weather[day], cover);
        diary[(size_t)day * paddies + i] = paddy.ponded;
    }
    harvest[i] = 0.45f * paddy.biomass;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rice_paddies");
    int paddies = p.small ? 600 : 132 * 16 * THREADS, days = p.small ? 20 : 120, kinds = p.small ? 12 : 700;
    unsigned seed = 33;
    auto between = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 1000) * 0.001f; };
    std::vector<Soil> soils(kinds);
    for (Soil &s : soils)
        s = {between(2, 9),    between(60, 150),    between(5, 25),      between(30, 60),          between(140, 220),
             between(60, 110), between(0.2f, 0.9f), between(0.1f, 0.3f), between(0.0005f, 0.002f), 0.002f};
    std::vector<Weather> weather(days);
    for (Weather &w : weather)
        w = {lcg_next(&seed, 4) ? 0.0f : between(1, 45), between(2, 7), between(18, 33), between(0.3f, 1)};
    std::vector<int> soil_of(paddies);  // patches of the same soil
    for (int i = 0, left = 0, kind = 0; i < paddies; i++, left--) {
        if (left == 0) {
            left = 1 + lcg_next(&seed, 8);
            kind = lcg_next(&seed, kinds);
        }
        soil_of[i] = kind;
    }

    Soil *d_soils = device_copy_of(soils.data(), kinds);
    int *d_soil_of = device_copy_of(soil_of.data(), paddies);
    Weather *d_weather = device_copy_of(weather.data(), days);
    size_t entries = (size_t)days * paddies;
    float *d_diary = device_array<float>(entries), *d_harvest = device_array<float>(paddies);

    int blocks = (paddies + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        keep_diaries<<<blocks, THREADS>>>(d_soils, d_soil_of, d_weather, paddies, days, d_diary, d_harvest);
    });

    std::vector<float> diary = host_copy_of(d_diary, entries), harvest = host_copy_of(d_harvest, paddies);
    for (int i = 0; i < paddies; i += p.small ? 1 : 37) {
        Paddy paddy = {30.0f, 120.0f, 45.0f, 0.3f};
        for (int day = 0; day < days; day++) {
            grow(&paddy, soils[soil_of[i]], weather[day], fminf(0.15f + 0.02f * day, 1.0f));
            size_t at = (size_t)day * paddies + i;
            pair_near(&p, "diary", at, paddy.ponded, diary[at], 1e-3);
        }
        pair_near(&p, "harvest", i, 0.45f * paddy.biomass, harvest[i], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_soils));
    CUDA_CHECK(cudaFree(d_soil_of));
    CUDA_CHECK(cudaFree(d_weather));
    CUDA_CHECK(cudaFree(d_diary));
    CUDA_CHECK(cudaFree(d_harvest));
    return pair_end(&p);
}
