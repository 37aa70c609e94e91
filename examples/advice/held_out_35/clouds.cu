// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the cells of one level lie next to each other in memory, not the cells of one column of air.
// Why: a thread is a column, so the lanes of a warp were 64 floats apart and every load and store of a warp took 32
// transactions where 4 are enough.
#include "../common.h"

constexpr int LEVELS = 64, THREADS = 128;
constexpr float BOLTZMANN = 5.670e-8f, DIFFUSE = 1.66f;

__host__ __device__ inline size_t cell_at(int column, int level, int columns) {
#ifdef AFTER
    return (size_t)level * columns + column;
#else
    (void)columns;
    return (size_t)column * LEVELS + level;
#endif
}

// What the weather model hands over, and what it wants back. Level 0 is the top of the atmosphere.
struct Air {
    const float *kelvin;
    const float *vapour;  // kg/m2 of the layer
    const float *liquid;  // kg/m2 of the layer: cloud water
    float *down;          // W/m2 that arrives at the bottom of the layer
    float *gain;          // W/m2 that stay in the layer
    int columns;
};

// Thermal radiation of a grey atmosphere: one sweep down with the counter-radiation, one up from the ground.
__global__ void long_wave(Air air, const float *__restrict__ ground) {
    const int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= air.columns)
        return;
    const float *__restrict__ kelvin = air.kelvin;
    const float *__restrict__ vapour = air.vapour;
    const float *__restrict__ liquid = air.liquid;

    float flux = 0;
    for (int level = 0; level < LEVELS; level++) {
        const size_t at = cell_at(column, level, air.columns);
        const float depth = 0.11f * vapour[at] + 130.0f * liquid[at], t = kelvin[at];
        const float passes = __expf(-DIFFUSE * depth), emits = BOLTZMANN * t * t * t * t;
        flux = flux * passes + emits * (1 - passes);
        air.down[at] = flux;
    }
    float surface = ground[column];
    flux = BOLTZMANN * surface * surface * surface * surface;
    for (int level = LEVELS - 1; level >= 0; level--) {
        const size_t at = cell_at(column, level, air.columns);
        const float depth = 0.11f * vapour[at] + 130.0f * liquid[at], t = kelvin[at];
        const float passes = __expf(-DIFFUSE * depth), emits = BOLTZMANN * t * t * t * t;
        const float above = flux * passes + emits * (1 - passes);
        const float from_above = level ? air.down[cell_at(column, level - 1, air.columns)] : 0;
        air.gain[at] = flux - above + from_above - air.down[at];
        flux = above;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "clouds");
    const int columns = p.small ? 640 : 160000;
    const size_t cells = (size_t)columns * LEVELS;

    std::vector<float> kelvin(cells), vapour(cells), liquid(cells, 0.0f), ground(columns);
    unsigned seed = 1803;
    for (int c = 0; c < columns; c++) {
        ground[c] = 278 + lcg_next(&seed, 200) * 0.1f;
        // One deck of clouds, somewhere, over every other column or so.
        int base = LEVELS - 4 - (int)lcg_next(&seed, 30), top = base - (int)lcg_next(&seed, 9);
        bool cloudy = lcg_next(&seed, 100) < 55;
        for (int level = 0; level < LEVELS; level++) {
            size_t at = cell_at(c, level, columns);
            float height = (float)(LEVELS - level) / LEVELS;
            kelvin[at] = ground[c] - 75 * height + lcg_next(&seed, 100) * 0.02f;
            vapour[at] = 1.2f * (1 - height) * (1 - height) * (1 - height) * (0.5f + lcg_next(&seed, 100) * 0.01f);
            if (cloudy && level >= top && level <= base)
                liquid[at] = 0.0002f * (1 + lcg_next(&seed, 60));
        }
    }

    float *d_ground = device_copy_of(ground.data(), columns);
    Air air = {device_copy_of(kelvin.data(), cells), device_copy_of(vapour.data(), cells),
               device_copy_of(liquid.data(), cells), device_array<float>(cells),
               device_array<float>(cells),           columns};
    pair_time(&p, [&] { long_wave<<<(columns + THREADS - 1) / THREADS, THREADS>>>(air, d_ground); });

    std::vector<float> down = host_copy_of(air.down, cells), gain = host_copy_of(air.gain, cells);
    for (int c = 0; c < columns; c += p.small ? 19 : 1999) {
        double passes[LEVELS], emits[LEVELS], arrives[LEVELS + 1] = {0};
        for (int level = 0; level < LEVELS; level++) {
            size_t at = cell_at(c, level, columns);
            passes[level] = exp(-DIFFUSE * (0.11 * vapour[at] + 130.0 * liquid[at]));
            emits[level] = BOLTZMANN * pow(kelvin[at], 4);
            arrives[level + 1] = arrives[level] * passes[level] + emits[level] * (1 - passes[level]);
            pair_near(&p, "down", at, arrives[level + 1], down[at], 1e-3);
        }
        double flux = BOLTZMANN * pow(ground[c], 4);
        for (int level = LEVELS - 1; level >= 0; level--) {
            size_t at = cell_at(c, level, columns);
            double above = flux * passes[level] + emits[level] * (1 - passes[level]);
            pair_near(&p, "gain", at, flux - above + arrives[level] - arrives[level + 1], gain[at], 5e-3);
            flux = above;
        }
    }
    return pair_end(&p);
}
