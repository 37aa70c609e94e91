// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the days is unrolled by eight.
// Why: a day's loads start only when the day before is through, although they don't depend on it.
#include "../common.h"

enum { BLOCK = 128 };

struct Water {
    float store, given, lost;
};

// One day of a field's water; explicit multiply-adds, so that host and device irrigate on the same days.
static __host__ __device__ Water day_of(Water w, float sun, float warmth, float wind, float rain, float full) {
    float growth = fmaxf(fmaf(0.0102f, warmth, 0.03f), 0.0f), thirst = sun * growth, air = fmaf(0.1f, wind, 0.8f);
    w.store = fmaf(-thirst, air, w.store) + rain;
    w.lost += fmaxf(w.store - full, 0.0f);
    w.store = fminf(fmaxf(w.store, 0.0f), full);
    if (w.store < 0.4f * full) {
        w.given += full - w.store;
        w.store = full;
    }
    return w;
}

// A season of many fields: how much water each of them has to be given, and how much runs off.
__global__ void season(const float *__restrict__ sun, const float *__restrict__ warmth, const float *__restrict__ wind,
                       const float *__restrict__ rain, const float *__restrict__ full, float *__restrict__ given,
                       float *__restrict__ lost, int fields, int days) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float own = full[i];
    Water w = {own, 0, 0};
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int day = 0; day < days; day++) {
        int at = day * fields + i;
        w = day_of(w, sun[at], warmth[at], wind[at], rain[at], own);
    }
    given[i] = w.given;
    lost[i] = w.lost;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "irrigation");
    int fields = p.small ? 512 : 1 << 15, days = p.small ? 40 : 200;
    size_t n = (size_t)fields * days;
    std::vector<float> sun = random_floats(n, 5, 28, 1), warmth = random_floats(n, -4, 32, 2),
                       wind = random_floats(n, 0, 8, 3), rain = random_floats(n, -12, 12, 4),
                       full = random_floats(fields, 25, 70, 5);
    for (float &r : rain)
        r = std::max(r, 0.0f);
    float *d_sun = device_copy_of(sun.data(), n), *d_warmth = device_copy_of(warmth.data(), n),
          *d_wind = device_copy_of(wind.data(), n), *d_rain = device_copy_of(rain.data(), n),
          *d_full = device_copy_of(full.data(), fields), *d_given = device_array<float>(fields),
          *d_lost = device_array<float>(fields);
    pair_time(&p, [&] {
        season<<<fields / BLOCK, BLOCK>>>(d_sun, d_warmth, d_wind, d_rain, d_full, d_given, d_lost, fields, days);
    });
    std::vector<float> given = host_copy_of(d_given, fields), lost = host_copy_of(d_lost, fields);
    for (int i = 0; i < fields; i += 11) {
        Water w = {full[i], 0, 0};
        for (int day = 0; day < days; day++) {
            size_t at = (size_t)day * fields + i;
            w = day_of(w, sun[at], warmth[at], wind[at], rain[at], full[i]);
        }
        pair_near(&p, "given", i, w.given, given[i], 1e-5);
        pair_near(&p, "lost", i, w.lost, lost[i], 1e-5);
    }
    return pair_end(&p);
}
