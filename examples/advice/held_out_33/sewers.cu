// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the inflow of the next hour is loaded before the reactions of this hour are computed, not after them.
// Why: the few warps of an SM wait for memory at the top of every hour and then compute with nothing in flight; the
// compiler can't move the load up, as the store of the effluent may change what it reads.
#include "../common.h"

enum { BLOCK = 128 };

struct Sludge {
    float growth;          // largest rate, per hour
    float half_substrate;  // Monod constants
    float half_oxygen;
    float demand;          // substrate that makes one unit of biomass
    float breath;          // oxygen for it
    float decay;           // per hour
    float aeration;        // per hour
    float saturation;      // of oxygen
};

struct Tank {
    float substrate, biomass, oxygen;
};

struct Inflow {
    float dilution;  // share of the volume per hour
    float strength;  // substrate in it
};

// One short explicit step of the activated sludge in a stirred tank.
static __device__ void react(Tank *t, const Inflow &in, const Sludge &k, float dt) {
    float fed = __fdividef(t->substrate, k.half_substrate + t->substrate);
    float grown = k.growth * fed * __fdividef(t->oxygen, k.half_oxygen + t->oxygen) * t->biomass;
    t->substrate += dt * (in.dilution * (in.strength - t->substrate) - k.demand * grown);
    t->oxygen += dt * (k.aeration * (k.saturation - t->oxygen) - k.breath * grown - in.dilution * t->oxygen);
    t->biomass += dt * (grown - (k.decay + 0.3f * in.dilution) * t->biomass);
    t->substrate = fmaxf(t->substrate, 0.0f);
    t->oxygen = fmaxf(t->oxygen, 0.0f);
}

static __device__ Inflow load_inflow(const float *dilution, const float *strength, int hour, int tanks, int i) {
    size_t at = (size_t)hour * tanks + i;
    Inflow in = {dilution[at], strength[at]};
    return in;
}

// A thread has one tank; the hours are in sequence.
__global__ void treat(const float *dilution, const float *strength, const Tank *start, float *effluent, Sludge sludge,
                      int tanks, int hours, int substeps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= tanks)
        return;
    Tank tank = start[i];
    float dt = 1.0f / substeps;
#ifdef AFTER
    Inflow next = load_inflow(dilution, strength, 0, tanks, i);
#endif
    for (int hour = 0; hour < hours; hour++) {
#ifdef AFTER
        Inflow in = next;
        next = load_inflow(dilution, strength, min(hour + 1, hours - 1), tanks, i);
#else
        Inflow in = load_inflow(dilution, strength, hour, tanks, i);
#endif
        for (int s = 0; s < substeps; s++)
            react(&tank, in, sludge, dt);
        effluent[(size_t)hour * tanks + i] = tank.substrate;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sewers");
    int tanks = 132 * BLOCK * (p.small ? 1 : 2) - 50, hours = p.small ? 24 : 240, substeps = 8;
    Sludge sludge = {0.4f, 20, 1, 1.6f, 0.1f, 0.2f, 1.5f, 8};
    size_t values = (size_t)tanks * hours;
    std::vector<float> dilution = random_floats(values, 0.02f, 0.2f, 1), strength = random_floats(values, 100, 400, 2);
    std::vector<Tank> start(tanks);
    unsigned seed = 3;
    for (Tank &t : start)
        t = {5.0f + lcg_next(&seed, 40), 50.0f + lcg_next(&seed, 50), 2.0f + 0.01f * lcg_next(&seed, 400)};
    float *d_dilution = device_copy_of(dilution.data(), values), *d_strength = device_copy_of(strength.data(), values),
          *d_effluent = device_array<float>(values);
    Tank *d_start = device_copy_of(start.data(), tanks);
    int grid = (tanks + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] {
        treat<<<grid, BLOCK>>>(d_dilution, d_strength, d_start, d_effluent, sludge, tanks, hours, substeps);
    });
    std::vector<float> effluent = host_copy_of(d_effluent, values);
    for (int i = 0; i < tanks; i += tanks / 61) {
        double s = start[i].substrate, x = start[i].biomass, o = start[i].oxygen, dt = 1.0 / substeps;
        for (int hour = 0; hour < hours; hour++) {
            size_t at = (size_t)hour * tanks + i;
            double d = dilution[at];
            for (int k = 0; k < substeps; k++) {
                double grown = sludge.growth * s / (sludge.half_substrate + s) * o / (sludge.half_oxygen + o) * x;
                s += dt * (d * (strength[at] - s) - sludge.demand * grown);
                o += dt * (sludge.aeration * (sludge.saturation - o) - sludge.breath * grown - d * o);
                x += dt * (grown - (sludge.decay + 0.3 * d) * x);
                s = std::max(s, 0.0);
                o = std::max(o, 0.0);
            }
            pair_near(&p, "effluent", at, s, effluent[at], 1e-3);
        }
    }
    return pair_end(&p);
}
