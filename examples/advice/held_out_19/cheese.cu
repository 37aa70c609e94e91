// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the threads of a warp take cheeses of one kind.
// Why: every rack holds one cheese of each of four kinds, side by side; each warp goes through all four models.
#include "../common.h"

enum { KINDS = 4, BLOCK = 256, RACKS = BLOCK / KINDS };

struct Cheese {
    float water, salt, acid;
};

// One day of ripening in a cellar of this temperature and dryness.
template <typename T>
__host__ __device__ inline void ripen(int kind, T temperature, T dryness, T &water, T &salt, T &acid) {
    if (kind == 0) {  // hard: it dries through the rind
        T rind = T(0.08) * dryness * exp(T(0.06) * temperature) / (T(1) + T(4) * salt);
        water -= rind * water * (water - T(0.2));
        salt += T(0.02) * (T(0.05) - salt) * sqrt(water);
        acid -= T(0.004) * acid * exp(-T(3) * salt);
    } else if (kind == 1) {  // blue: the mould grows on what acid there is
        T mould = acid * water / (T(0.05) + acid) * exp(T(0.04) * temperature - T(20) * salt);
        acid -= T(0.02) * mould;
        water -= T(0.002) * mould * (T(1) + dryness);
        salt += T(0.001) * (T(1) - salt) * mould / (T(1) + mould);
    } else if (kind == 2) {  // washed: brine every day
        T brine = T(0.26) * (T(1) - exp(-T(0.1) * temperature));
        salt += T(0.015) * (brine - salt) * water;
        water += T(0.004) * (T(0.6) - water) - T(0.002) * sqrt(salt) * dryness;
        acid = acid / (T(1) + T(0.01) * exp(-T(5) * acid));
    } else {  // fresh: milk acid, whey runs off
        T whey = T(0.03) * water / (T(1) + exp(-T(8) * (acid - T(0.2))));
        acid += T(0.01) * (T(0.5) - acid) * exp(T(0.03) * temperature) * water;
        water -= whey * (water - T(0.3));
        salt *= T(1) - T(0.05) * whey / (T(0.1) + water);
    }
}

__global__ void age(const Cheese *fresh, Cheese *aged, const float2 *cellar, int days) {
#ifdef AFTER
    int kind = threadIdx.x / RACKS, rack = blockIdx.x * RACKS + threadIdx.x % RACKS;
#else
    int kind = threadIdx.x % KINDS, rack = blockIdx.x * RACKS + threadIdx.x / KINDS;
#endif
    Cheese cheese = fresh[rack * KINDS + kind];
    for (int day = 0; day < days; day++) {
        float2 air = cellar[day];
        ripen(kind, air.x, air.y, cheese.water, cheese.salt, cheese.acid);
    }
    aged[rack * KINDS + kind] = cheese;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cheese");
    int blocks = p.small ? 1 : 2112, n = blocks * BLOCK, days = p.small ? 8 : 90;
    std::vector<float> water = random_floats(n, 0.45f, 0.6f, 1), salt = random_floats(n, 0, 0.03f, 2),
                       acid = random_floats(n, 0.1f, 0.3f, 3), temperature = random_floats(days, 8, 14, 4),
                       dryness = random_floats(days, 0.05f, 0.3f, 5);
    std::vector<Cheese> fresh(n);
    std::vector<float2> cellar(days);
    for (int i = 0; i < n; i++)
        fresh[i] = {water[i], salt[i], acid[i]};
    for (int d = 0; d < days; d++)
        cellar[d] = make_float2(temperature[d], dryness[d]);
    Cheese *d_fresh = device_copy_of(fresh.data(), n), *d_aged = device_array<Cheese>(n);
    float2 *d_cellar = device_copy_of(cellar.data(), days);
    pair_time(&p, [&] { age<<<blocks, BLOCK>>>(d_fresh, d_aged, d_cellar, days); });
    std::vector<Cheese> aged = host_copy_of(d_aged, n);
    for (int i = 0; i < n; i += p.small ? 3 : 401) {
        double w = fresh[i].water, s = fresh[i].salt, a = fresh[i].acid;
        for (int d = 0; d < days; d++)
            ripen<double>(i % KINDS, temperature[d], dryness[d], w, s, a);
        pair_near(&p, "water", i, w, aged[i].water, 1e-3);
        pair_near(&p, "salt", i, s, aged[i].salt, 1e-3);
        pair_near(&p, "acid", i, a, aged[i].acid, 1e-3);
    }
    return pair_end(&p);
}
