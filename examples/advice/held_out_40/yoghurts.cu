// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the three logs of a minute are read at its beginning, not each one just before the formula that needs it.
// Why: a result is stored between two reads, and as the arrays could overlap the compiler may not move a read over it;
//      so a minute waited for memory three times in a row. The few warps there are cannot hide that.
#include "../common.h"

enum { BLOCK = 128 };

// A strain of lactic bacteria and the milk it grows in.
struct Culture {
    float fastest;      // growth per minute at the best temperature
    float best, width;  // degrees
    float half;         // sugar at which growth is half
    float yield, acid;  // biomass per sugar, acid per biomass
    float too_sour;     // acidity at which growth ends
};

struct Vat {
    float biomass, sugar, acidity;
};

__host__ __device__ static inline float growth_rate(const Culture &c, const Vat &v, float temperature) {
    float off = (temperature - c.best) / c.width;
    float sour = fmaxf(1 - v.acidity / c.too_sour, 0.0f);
    return c.fastest * expf(-off * off) * v.sugar / (c.half + v.sugar) * sour;
}

__host__ __device__ static inline float sugar_left(const Culture &c, const Vat &v, float grown, float milk) {
    return fmaxf(v.sugar + milk * (1 - 0.01f * v.sugar) - grown / c.yield, 0.0f);
}

__host__ __device__ static inline float new_acidity(const Culture &c, const Vat &v, float grown, float base) {
    float sour = v.acidity + c.acid * grown + 0.0004f * v.biomass;
    return sour / (1 + base * sqrtf(sour + 0.01f));
}

// A thread follows one vat through the night. The logs and the results have a row for each minute.
__global__ void ferment(const float *temperature, const float *milk, const float *base, Culture culture, Vat start,
                        int vats, int minutes, float *biomass, float *sugar, float *acidity) {
    int vat = blockIdx.x * BLOCK + threadIdx.x;
    if (vat >= vats)
        return;
    Vat v = start;
    for (int minute = 0; minute < minutes; minute++) {
        size_t now = (size_t)minute * vats + vat;
        float warmth = temperature[now];
#ifdef AFTER
        float added_milk = milk[now];
        float added_base = base[now];
#endif
        float grown = v.biomass * growth_rate(culture, v, warmth);
        v.biomass += grown;
        biomass[now] = v.biomass;

#ifndef AFTER
        float added_milk = milk[now];
#endif
        v.sugar = sugar_left(culture, v, grown, added_milk);
        sugar[now] = v.sugar;

#ifndef AFTER
        float added_base = base[now];
#endif
        v.acidity = new_acidity(culture, v, grown, added_base);
        acidity[now] = v.acidity;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "yoghurts");
    int vats = p.small ? 500 : 132 * BLOCK, minutes = p.small ? 20 : 300;
    size_t size = (size_t)vats * minutes;
    const Culture culture = {0.03f, 42, 6, 8, 0.4f, 0.5f, 3};
    const Vat start = {0.05f, 45, 0.1f};
    std::vector<float> temperature = random_floats(size, 37, 45, 1), milk = random_floats(size, 0, 0.02f, 2),
                       base = random_floats(size, 0, 0.01f, 3);
    float *d_temperature = device_copy_of(temperature.data(), size), *d_milk = device_copy_of(milk.data(), size),
          *d_base = device_copy_of(base.data(), size), *d_biomass = device_array<float>(size),
          *d_sugar = device_array<float>(size), *d_acidity = device_array<float>(size);
    int blocks = (vats + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] {
        ferment<<<blocks, BLOCK>>>(d_temperature, d_milk, d_base, culture, start, vats, minutes, d_biomass, d_sugar,
                                   d_acidity);
    });
    std::vector<float> biomass = host_copy_of(d_biomass, size), sugar = host_copy_of(d_sugar, size),
                       acidity = host_copy_of(d_acidity, size);
    for (int vat = 0; vat < vats; vat += 3) {
        Vat v = start;
        for (int minute = 0; minute < minutes; minute++) {
            size_t now = (size_t)minute * vats + vat;
            float grown = v.biomass * growth_rate(culture, v, temperature[now]);
            v.biomass += grown;
            v.sugar = sugar_left(culture, v, grown, milk[now]);
            v.acidity = new_acidity(culture, v, grown, base[now]);
            pair_near(&p, "biomass", now, v.biomass, biomass[now], 1e-3);
            pair_near(&p, "sugar", now, v.sugar, sugar[now], 1e-3);
            pair_near(&p, "acidity", now, v.acidity, acidity[now], 1e-3);
        }
    }
    return pair_end(&p);
}
