// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the weather of the next hour is loaded before the iteration for this hour begins, not after it has ended.
// Why: an orchard is a thread and its hours follow one another, so each hour waited for memory first and for the
// iteration then; now the loads are on their way while it runs.
#include "../common.h"

constexpr int THREADS = 128;
constexpr float BOLTZMANN = 5.670e-8f;

// [hour * sites + site], from the weather model.
struct Forecast {
    const float *air;     // degrees Celsius
    const float *wind;    // m/s
    const float *sky;     // W/m2, counter-radiation and what gets through of the sun
    const float *vapour;  // hPa
    int sites, hours;
};

struct Weather {
    float air, wind, sky, vapour;
};

// What a bud is: heat that a square metre takes up per kelvin, how wet it is, how well it radiates.
struct Bud {
    float heat, wetness, emissivity;
};

__device__ __forceinline__ Weather weather_at(const Forecast &f, int hour, int site) {
    const size_t at = (size_t)hour * f.sites + site;
    return {__ldg(f.air + at), __ldg(f.wind + at), __ldg(f.sky + at), __ldg(f.vapour + at)};
}

// The temperature at which what a bud gains and what it loses balance at the end of an hour, by Newton's method.
__device__ __forceinline__ float balance(float old, const Weather &w, const Bud &bud) {
    const float carried = bud.heat / 3600, exchange = 6 + 9 * sqrtf(w.wind);
    float t = old;
    for (int turn = 0; turn < 20; turn++) {
        const float kelvin = t + 273.15f, cube = bud.emissivity * BOLTZMANN * kelvin * kelvin * kelvin;
        // Magnus: the pressure of saturated vapour, and how it changes.
        const float scale = __fdividef(1.0f, t + 243.12f), saturated = 6.112f * __expf(17.62f * t * scale);
        const float steeper = saturated * 4283.8f * scale * scale, wet = bud.wetness * exchange;
        const float excess = carried * (t - old) + cube * kelvin - bud.emissivity * w.sky + exchange * (t - w.air) +
                             wet * (saturated - w.vapour);
        const float change = __fdividef(excess, carried + 4 * cube + exchange + wet * steeper);
        t -= change;
        if (fabsf(change) < 2e-3f)
            break;
    }
    return t;
}

// Night frost in orchards: the coldest that the buds get, and the degree-hours below 0 Celsius.
__global__ void frost(Forecast forecast, Bud bud, float *__restrict__ coldest, float *__restrict__ degree_hours) {
    const int site = blockIdx.x * THREADS + threadIdx.x;
    if (site >= forecast.sites)
        return;
    float t = forecast.air[site], least = t, sum = 0;
#ifdef AFTER
    Weather next = weather_at(forecast, 0, site);
#endif
    for (int hour = 0; hour < forecast.hours; hour++) {
#ifdef AFTER
        const Weather now = next;
        next = weather_at(forecast, min(hour + 1, forecast.hours - 1), site);
#else
        const Weather now = weather_at(forecast, hour, site);
#endif
        t = balance(t, now, bud);
        least = fminf(least, t);
        sum += fmaxf(-t, 0.0f);
    }
    coldest[site] = least;
    degree_hours[site] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "frosts");
    const int sites = p.small ? 1000 : 40000, hours = p.small ? 10 : 480;
    const size_t count = (size_t)sites * hours;
    const Bud bud = {9000, 0.35f, 0.96f};

    std::vector<float> air(count), wind(count), sky(count), vapour(count), hollow = random_floats(sites, 0, 4, 1816);
    unsigned seed = 1816;
    for (int hour = 0; hour < hours; hour++) {
        // April: the sun is up for half of the day; cold air comes and goes within a week.
        const float day = sinf(6.2832f * (hour - 8) / 24), week = sinf(6.2832f * hour / 160);
        for (int site = 0; site < sites; site++) {
            const size_t at = (size_t)hour * sites + site;
            const float noise = lcg_next(&seed, 1024) / 1024.0f, gust = lcg_next(&seed, 1024) / 1024.0f;
            air[at] = 4 + 5 * day + 3 * week + noise - hollow[site];
            wind[at] = 0.3f + 3 * gust * (1.5f + day);
            sky[at] = 255 + 30 * noise + (day > 0 ? 400 * day : 0);
            vapour[at] = 5 + 1.5f * week + gust;
        }
    }

    float *d_coldest = device_array<float>(sites), *d_degree_hours = device_array<float>(sites);
    const Forecast forecast = {device_copy_of(air.data(), count),
                               device_copy_of(wind.data(), count),
                               device_copy_of(sky.data(), count),
                               device_copy_of(vapour.data(), count),
                               sites,
                               hours};
    pair_time(&p,
              [&] { frost<<<(sites + THREADS - 1) / THREADS, THREADS>>>(forecast, bud, d_coldest, d_degree_hours); });

    std::vector<float> coldest = host_copy_of(d_coldest, sites), degree_hours = host_copy_of(d_degree_hours, sites);
    for (int site = 0; site < sites; site += p.small ? 31 : 397) {
        double t = air[site], least = t, sum = 0;
        for (int hour = 0; hour < hours; hour++) {
            const size_t at = (size_t)hour * sites + site;
            const double exchange = 6 + 9 * sqrt(wind[at]), wet = bud.wetness * exchange, carried = bud.heat / 3600;
            // What it gains falls as it gets warmer, so the balance lies between two temperatures that close in.
            double low = -60, high = 80;
            for (int turn = 0; turn < 40; turn++) {
                const double middle = (low + high) / 2, saturated = 6.112 * exp(17.62 * middle / (middle + 243.12));
                const double excess = carried * (middle - t) + bud.emissivity * BOLTZMANN * pow(middle + 273.15, 4) -
                                      bud.emissivity * sky[at] + exchange * (middle - air[at]) +
                                      wet * (saturated - vapour[at]);
                (excess > 0 ? high : low) = middle;
            }
            t = (low + high) / 2;
            least = std::min(least, t);
            sum += std::max(-t, 0.0);
        }
        pair_near(&p, "coldest", site, least, coldest[site], 1e-3);
        pair_near(&p, "degree hours", site, sum, degree_hours[site], 1e-3);
    }
    return pair_end(&p);
}
