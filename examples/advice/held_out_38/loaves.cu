// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the time loop is cut at the times of the recipe into five loops in which nothing about the oven changes.
// Why: every step asked where in the recipe it is, four comparisons for an answer that changes four times in a bake;
// that was a good part of the instructions of a short step.
#include "../common.h"

// Baking simulation for a bread factory: one CTA is one oven with its recipe, one thread a loaf in it (of its own size
// and dough), which is modelled as crust, middle and crumb. Finds the browning, the water lost and the core's heat.
constexpr int THREADS = 128;
constexpr float BOILING = 100.0f;

struct Recipe {                    // times in steps; steam_end <= ramp_end <= fan_start <= bake_end <= open
    int steam_end;                 // until then the oven is full of steam
    int ramp_end;                  // until then the oven gets hotter
    int fan_start;                 // from then on the fan is on
    int bake_end;                  // from then on the oven cools
    int open;                      // end
    float start;                   // degrees Celsius
    float ramp, cool;              // degrees a step
    float steamed, still, fanned;  // heat transfer to the crust, a step
};

struct Dough {
    float outer;  // conduction crust - middle, a step
    float inner;  // conduction middle - crumb
    float water;  // cooling by a degree above boiling
};

struct Loaf {
    float crust, middle, crumb;
    float browned, lost;
};

__host__ __device__ inline void bake_step(Loaf &loaf, const Dough &dough, float oven, float transfer) {
    float from_air = transfer * (oven - loaf.crust);
    float outwards = dough.outer * (loaf.crust - loaf.middle);
    float inwards = dough.inner * (loaf.middle - loaf.crumb);
    float steam = dough.water * fmaxf(loaf.crust - BOILING, 0.0f);
    loaf.crust += from_air - outwards - steam;
    loaf.middle += outwards - inwards;
    loaf.crumb += inwards;
    loaf.lost += steam;
    loaf.browned += fmaxf(loaf.crust - 140.0f, 0.0f);
}

#ifdef AFTER
// Steps [from, to) of a bake, in which the oven's heat grows by `slope` a step.
__device__ inline void bake_stage(Loaf &loaf, const Dough &dough, float &oven, float slope, float transfer, int from,
                                  int to) {
#pragma unroll 4
    for (int step = from; step < to; step++) {
        oven += slope;
        bake_step(loaf, dough, oven, transfer);
    }
}
#endif

__global__ void __launch_bounds__(THREADS)
    bake(Loaf *__restrict__ loaves, const Dough *__restrict__ doughs, const Recipe *__restrict__ recipes) {
    const Recipe recipe = recipes[blockIdx.x];
    int at = blockIdx.x * THREADS + threadIdx.x;
    Dough dough = doughs[at];
    Loaf loaf = {28.0f, 28.0f, 28.0f, 0.0f, 0.0f};
    float oven = recipe.start;

#ifdef AFTER
    bake_stage(loaf, dough, oven, recipe.ramp, recipe.steamed, 0, recipe.steam_end);
    bake_stage(loaf, dough, oven, recipe.ramp, recipe.still, recipe.steam_end, recipe.ramp_end);
    bake_stage(loaf, dough, oven, 0.0f, recipe.still, recipe.ramp_end, recipe.fan_start);
    bake_stage(loaf, dough, oven, 0.0f, recipe.fanned, recipe.fan_start, recipe.bake_end);
    bake_stage(loaf, dough, oven, -recipe.cool, recipe.fanned, recipe.bake_end, recipe.open);
#else
#pragma unroll 4
    for (int step = 0; step < recipe.open; step++) {
        if (step < recipe.ramp_end)
            oven += recipe.ramp;
        else if (step >= recipe.bake_end)
            oven -= recipe.cool;
        float transfer = recipe.still;
        if (step < recipe.steam_end)
            transfer = recipe.steamed;
        else if (step >= recipe.fan_start)
            transfer = recipe.fanned;
        bake_step(loaf, dough, oven, transfer);
    }
#endif
    loaf.browned *= 1.0f / recipe.open;
    loaves[at] = loaf;
}

static Loaf bake_on_cpu(const Dough &dough, const Recipe &recipe) {
    Loaf loaf = {28.0f, 28.0f, 28.0f, 0.0f, 0.0f};
    float oven = recipe.start;
    for (int step = 0; step < recipe.open; step++) {
        oven += step < recipe.ramp_end ? recipe.ramp : step >= recipe.bake_end ? -recipe.cool : 0.0f;
        bake_step(loaf, dough, oven,
                  step < recipe.steam_end    ? recipe.steamed
                  : step >= recipe.fan_start ? recipe.fanned
                                             : recipe.still);
    }
    loaf.browned /= recipe.open;
    return loaf;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "loaves");
    const int ovens = p.small ? 4 : 2640, minutes = p.small ? 1 : 25;

    unsigned seed = 383;
    std::vector<Recipe> recipes(ovens);
    for (Recipe &r : recipes) {
        r.steam_end = minutes * (8 + (int)lcg_next(&seed, 8));
        r.ramp_end = r.steam_end + minutes * (5 + (int)lcg_next(&seed, 10));
        r.fan_start = r.ramp_end + minutes * (10 + (int)lcg_next(&seed, 8));
        r.bake_end = r.fan_start + minutes * (8 + (int)lcg_next(&seed, 8));
        r.open = minutes * 64;
        r.start = 160.0f + lcg_next(&seed, 20);
        r.ramp = (60.0f + lcg_next(&seed, 20)) / r.ramp_end;
        r.cool = 50.0f / (r.open - r.bake_end);
        r.steamed = 0.020f;
        r.still = 0.011f;
        r.fanned = 0.016f;
    }
    std::vector<Dough> doughs((size_t)ovens * THREADS);
    for (Dough &d : doughs) {
        float size = 1.0f + 0.001f * lcg_next(&seed, 1000);
        d = {0.010f / size, 0.006f / size, 0.004f + 0.000002f * lcg_next(&seed, 1000)};
    }

    Recipe *d_recipes = device_copy_of(recipes.data(), recipes.size());
    Dough *d_doughs = device_copy_of(doughs.data(), doughs.size());
    Loaf *d_loaves = device_array<Loaf>(doughs.size());
    pair_time(&p, [&] { bake<<<ovens, THREADS>>>(d_loaves, d_doughs, d_recipes); });

    std::vector<Loaf> loaves = host_copy_of(d_loaves, doughs.size());
    for (size_t i = 0; i < loaves.size(); i += p.small ? 1 : 211) {
        Loaf expected = bake_on_cpu(doughs[i], recipes[i / THREADS]);
        pair_near(&p, "crust", i, expected.crust, loaves[i].crust, 1e-3);
        pair_near(&p, "crumb", i, expected.crumb, loaves[i].crumb, 1e-3);
        pair_near(&p, "browned", i, expected.browned, loaves[i].browned, 5e-3);
        pair_near(&p, "lost", i, expected.lost, loaves[i].lost, 5e-3);
    }
    CUDA_CHECK(cudaFree(d_recipes));
    CUDA_CHECK(cudaFree(d_doughs));
    CUDA_CHECK(cudaFree(d_loaves));
    return pair_end(&p);
}
