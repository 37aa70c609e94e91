// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the three processes of a day (percolation, mineralisation, leaching) run in one kernel, no longer in three.
// Why: what one process hands to the next is as large as the state itself and goes through global memory, and each of
// them reads the state again.
#include "../common.h"

enum { LAYERS = 6, BLOCK = 128 };

struct Weather {
    float rain, evaporation, warmth;  // millimetres; factor on the speed of microbes
};

struct Soil {
    float capacity, speed;  // millimetres held against gravity in a layer; part of the surplus that drains in a day
};

__constant__ Soil soils[4] = {{18, 0.9f}, {27, 0.7f}, {33, 0.5f}, {39, 0.25f}};  // sand to clay
__constant__ float roots[LAYERS] = {0.38f, 0.27f, 0.17f, 0.10f, 0.05f, 0.03f};

// Tipping buckets: rain fills the layers from the top, surplus drains to the next. Roots and sun take water out.
__device__ inline void percolate(float *water, float *drained, Soil soil, Weather day) {
    float inflow = day.rain;
#pragma unroll
    for (int l = 0; l < LAYERS; l++) {
        water[l] = fmaxf(water[l] + inflow - roots[l] * day.evaporation, 0.2f * soil.capacity);
        drained[l] = inflow = soil.speed * fmaxf(water[l] - soil.capacity, 0.0f);
        water[l] -= inflow;
    }
}

// Microbes turn organic nitrogen into nitrate, fastest in moist soil; the crop takes some of it up.
__device__ inline void mineralise(float *nitrate, const float *organic, const float *water, Soil soil, Weather day) {
#pragma unroll
    for (int l = 0; l < LAYERS; l++) {
        float moist = fminf(water[l] / soil.capacity, 1.0f);
        float made = 0.0006f * organic[l] * moist * (2 - moist) * day.warmth;
        nitrate[l] += made - fminf(0.6f * nitrate[l], 3.5f * roots[l] * day.warmth);
    }
}

// Draining water takes nitrate along. Returns what leaves the profile.
__device__ inline float leach(float *nitrate, const float *water, const float *drained) {
    float inflow = 0;
#pragma unroll
    for (int l = 0; l < LAYERS; l++) {
        nitrate[l] += inflow;
        inflow = nitrate[l] * drained[l] / (water[l] + drained[l]);
        nitrate[l] -= inflow;
    }
    return inflow;
}

// Copies a profile. In global memory its layers are f.cells apart, in registers they are next to each other.
__device__ inline void copy(float *to, int to_step, const float *from, int from_step) {
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        to[(size_t)l * to_step] = from[(size_t)l * from_step];
}

// A farm region: yesterday's state, today's, and the two arrays between the processes.
struct Fields {
    const unsigned char *soil;
    const float *water, *nitrate, *organic;
    float *new_water, *new_nitrate, *lost, *drained, *mineral;
    int cells;  // a multiple of BLOCK
};

#ifdef AFTER
__global__ void one_day(Fields f, Weather day) {
    const int cell = blockIdx.x * BLOCK + threadIdx.x;
    const Soil soil = soils[f.soil[cell]];
    float water[LAYERS], drained[LAYERS], nitrate[LAYERS], organic[LAYERS];
    copy(water, 1, f.water + cell, f.cells);
    copy(nitrate, 1, f.nitrate + cell, f.cells);
    copy(organic, 1, f.organic + cell, f.cells);
    percolate(water, drained, soil, day);
    mineralise(nitrate, organic, water, soil, day);
    f.lost[cell] = leach(nitrate, water, drained);
    copy(f.new_water + cell, f.cells, water, 1);
    copy(f.new_nitrate + cell, f.cells, nitrate, 1);
}
#else
__global__ void percolation(Fields f, Weather day) {
    const int cell = blockIdx.x * BLOCK + threadIdx.x;
    float water[LAYERS], drained[LAYERS];
    copy(water, 1, f.water + cell, f.cells);
    percolate(water, drained, soils[f.soil[cell]], day);
    copy(f.new_water + cell, f.cells, water, 1);
    copy(f.drained + cell, f.cells, drained, 1);
}

__global__ void mineralisation(Fields f, Weather day) {
    const int cell = blockIdx.x * BLOCK + threadIdx.x;
    float water[LAYERS], nitrate[LAYERS], organic[LAYERS];
    copy(water, 1, f.new_water + cell, f.cells);
    copy(nitrate, 1, f.nitrate + cell, f.cells);
    copy(organic, 1, f.organic + cell, f.cells);
    mineralise(nitrate, organic, water, soils[f.soil[cell]], day);
    copy(f.mineral + cell, f.cells, nitrate, 1);
}

__global__ void leaching(Fields f) {
    const int cell = blockIdx.x * BLOCK + threadIdx.x;
    float water[LAYERS], drained[LAYERS], nitrate[LAYERS];
    copy(water, 1, f.new_water + cell, f.cells);
    copy(drained, 1, f.drained + cell, f.cells);
    copy(nitrate, 1, f.mineral + cell, f.cells);
    f.lost[cell] = leach(nitrate, water, drained);
    copy(f.new_nitrate + cell, f.cells, nitrate, 1);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nitrates");
    const int cells = (p.small ? 8 : 18000) * BLOCK, grid = cells / BLOCK;
    const size_t n = (size_t)cells * LAYERS;
    const Weather day = {14.5f, 3.1f, 0.8f};
    const float capacity[] = {18, 27, 33, 39}, speed[] = {0.9f, 0.7f, 0.5f, 0.25f},
                root[] = {0.38f, 0.27f, 0.17f, 0.10f, 0.05f, 0.03f};

    // Soils change from field to field, not from cell to cell.
    std::vector<unsigned char> soil(cells);
    for (int c = 0; c < cells; c++)
        soil[c] = (c / 150 * 2654435761u) >> 30;
    std::vector<float> water = random_floats(n, 8, 42, 1), nitrate = random_floats(n, 1, 30, 2),
                       organic = random_floats(n, 200, 1500, 3);
    Fields f = {device_copy_of(soil.data(), cells),
                device_copy_of(water.data(), n),
                device_copy_of(nitrate.data(), n),
                device_copy_of(organic.data(), n),
                device_array<float>(n),
                device_array<float>(n),
                device_array<float>(cells),
                device_array<float>(n),
                device_array<float>(n),
                cells};
    pair_time(&p, [&] {
#ifdef AFTER
        one_day<<<grid, BLOCK>>>(f, day);
#else
        percolation<<<grid, BLOCK>>>(f, day);
        mineralisation<<<grid, BLOCK>>>(f, day);
        leaching<<<grid, BLOCK>>>(f);
#endif
    });

    std::vector<float> lost = host_copy_of(f.lost, cells), left = host_copy_of(f.new_nitrate, n),
                       wet = host_copy_of(f.new_water, n);
    for (int c = 0; c < cells; c += p.small ? 3 : 997) {
        double rain = day.rain, leached = 0, hold = capacity[soil[c]];
        for (int l = 0; l < LAYERS; l++) {
            size_t i = (size_t)l * cells + c;
            double w = std::max(water[i] + rain - (double)root[l] * day.evaporation, 0.2 * hold);
            double drain = speed[soil[c]] * std::max(w - hold, 0.0), nit = nitrate[i];
            w -= drain;
            double moist = std::min(w / hold, 1.0);
            nit += 0.0006 * organic[i] * moist * (2 - moist) * day.warmth -
                   std::min(0.6 * nit, 3.5 * root[l] * day.warmth) + leached;
            leached = nit * drain / (w + drain);
            rain = drain;
            pair_near(&p, "water", i, w, wet[i], 1e-4);
            pair_near(&p, "nitrate", i, nit - leached, left[i], 1e-4);
        }
        pair_near(&p, "lost", c, leached, lost[c], 1e-4);
    }
    return pair_end(&p);
}
