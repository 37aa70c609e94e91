// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the daily series are stored day by day instead of catchment by catchment.
// Why: the threads of a warp are neighbouring catchments on the same day; a whole season apart in memory, each of their
// accesses is 32 transactions, side by side it is four.
#include "../common.h"

enum { BLOCK = 128 };

struct Catchment {
    float capacity;     // of the soil, mm
    float degree_day;   // snow melt, mm per degree and day
    float recession;    // share of the groundwater that leaves it in a day
    float evaporation;  // mm per day and degree
};

static __host__ __device__ size_t place(int catchment, int day, int catchments, int days) {
#ifdef AFTER
    (void)days;
    return (size_t)day * catchments + catchment;
#else
    (void)catchments;
    return (size_t)catchment * days + day;
#endif
}

// What runs off each headwater catchment of a river on each day, in mm: snow, soil and groundwater as three stores.
__global__ void tributaries(const Catchment *__restrict__ catchments, const float *__restrict__ rain,
                            const float *__restrict__ temperature, float *__restrict__ flow, int count, int days) {
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= count)
        return;
    const Catchment here = catchments[c];
    float snow = 0, soil = 0.6f * here.capacity, ground = 20;
    for (int day = 0; day < days; day++) {
        const size_t i = place(c, day, count, days);
        const float degrees = temperature[i], fallen = rain[i];
        const bool freezing = degrees < 0;
        const float melt = freezing ? 0.0f : fminf(snow, here.degree_day * degrees);
        snow += (freezing ? fallen : 0.0f) - melt;
        const float water = (freezing ? 0.0f : fallen) + melt;

        // The fuller the soil, the more of the water it lets through.
        const float filled = soil / here.capacity, through = water * filled * filled;
        soil += water - through;
        soil -= fminf(soil, freezing ? 0.0f : here.evaporation * degrees * filled);
        const float spilled = fmaxf(0.0f, soil - here.capacity);
        soil -= spilled;

        const float base = here.recession * ground;
        ground += 0.6f * through - base;
        flow[i] = 0.4f * through + spilled + base;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tributaries");
    const int count = p.small ? 700 : 200000, days = p.small ? 20 : 120;
    const size_t n = (size_t)count * days;

    std::vector<Catchment> catchments(count);
    std::vector<float> kind = random_floats(count, 0, 1, 1), rain(n), temperature(n);
    for (int c = 0; c < count; c++)
        catchments[c] = {80 + 170 * kind[c], 2.5f + 2 * kind[count - 1 - c], 0.01f + 0.05f * kind[c], 0.12f};
    std::vector<float> season(days);
    for (int day = 0; day < days; day++)
        season[day] = 6 - 11 * cosf((day + 45) * 6.2832f / 365);  // from the middle of February
    unsigned seed = 2;
    for (int c = 0; c < count; c++)
        for (int day = 0; day < days; day++) {
            const size_t i = place(c, day, count, days);
            const int wet = (int)lcg_next(&seed, 1000) - 620;
            rain[i] = wet > 0 ? wet * 0.06f : 0.0f;
            temperature[i] = season[day] + lcg_next(&seed, 900) * 0.01f - 6 * kind[c];
        }

    Catchment *d_catchments = device_copy_of(catchments.data(), count);
    float *d_rain = device_copy_of(rain.data(), n), *d_temperature = device_copy_of(temperature.data(), n),
          *d_flow = device_array<float>(n);
    pair_time(&p, [&] {
        tributaries<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_catchments, d_rain, d_temperature, d_flow, count, days);
    });

    std::vector<float> flow = host_copy_of(d_flow, n);
    for (int c = 0; c < count; c += p.small ? 9 : 1999) {
        const Catchment &k = catchments[c];
        double snow = 0, soil = 0.6 * k.capacity, ground = 20;
        for (int day = 0; day < days; day++) {
            const size_t i = place(c, day, count, days);
            double degrees = temperature[i], water = 0, evaporated = 0;
            if (degrees < 0) {
                snow += rain[i];
            } else {
                double melt = std::min(snow, k.degree_day * degrees);
                snow -= melt;
                water = rain[i] + melt;
                evaporated = k.evaporation * degrees * soil / k.capacity;
            }
            double through = water * (soil / k.capacity) * (soil / k.capacity);
            soil += water - through;
            soil -= std::min(soil, evaporated);
            double spilled = std::max(0.0, soil - k.capacity), base = k.recession * ground;
            soil -= spilled;
            ground += 0.6 * through - base;
            pair_near(&p, "flow", i, 0.4 * through + spilled + base, flow[i], 1e-3);
        }
    }
    return pair_end(&p);
}
