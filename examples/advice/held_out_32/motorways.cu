// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sqrtf, the division, log10f and exp10f become the fast ones: x * rsqrtf(x), __fdividef, __log10f, __exp10f.
// Why: the exact ones treat denormals and round the last bit, which takes many instructions for every pair of a place
// and a stretch of road; noise is told to a tenth of a decibel.
#include "../common.h"

enum { WIDTH = 32, HEIGHT = 4, CHUNK = WIDTH * HEIGHT };

#ifdef AFTER
#define SQRT(x) ((x)*rsqrtf(x))
#define DIVIDE(x, y) __fdividef(x, y)
#define LOG10(x) __log10f(x)
#define EXP10(x) __exp10f(x)
#else
#define SQRT(x) sqrtf(x)
#define DIVIDE(x, y) ((x) / (y))
#define LOG10(x) log10f(x)
#define EXP10(x) exp10f(x)
#endif

// A stretch of motorway, as a point with its sound power in dB, and the height of the wall beside it.
struct Stretch {
    float x, y, power, wall;
};

struct Map {
    int columns, rows, stretches;
    float cell, receiver_height, source_height, air_db_per_m;
};

// How much longer the slope is than its base, without the difference of two long distances.
static __device__ float longer_by(float base, float height) {
    float squared = height * height;
    return DIVIDE(squared, base + SQRT(base * base + squared));
}

// Screening by the wall, from the detour over its top (Maekawa).
static __device__ float screening_db(float distance, float wall, const Map &map) {
    float above = wall - map.source_height, near = 6.0f, far = fmaxf(distance - near, 1.0f);
    float drop = wall - map.receiver_height;
    float detour = longer_by(near, above) + longer_by(far, drop) + fmaxf(near + 1.0f - distance, 0.0f);
    return 10.0f * LOG10(3.0f + detour * 60.0f);
}

// Loss over porous ground (ISO 9613-2, the alternative method).
static __device__ float ground_db(float distance, const Map &map) {
    float mean_height = 0.5f * (map.receiver_height + map.source_height);
    return fmaxf(4.8f - DIVIDE(2.0f * mean_height, distance) * (17.0f + DIVIDE(300.0f, distance)), 0.0f);
}

static __device__ float level_db(const Stretch &s, float x, float y, const Map &map) {
    float dx = x - s.x, dy = y - s.y, dz = map.receiver_height - map.source_height;
    float squared = dx * dx + dy * dy + dz * dz, distance = SQRT(squared);
    float loss = 10.0f * LOG10(squared) + 11.0f + map.air_db_per_m * distance;
    return s.power - loss - fmaxf(ground_db(distance, map), screening_db(distance, s.wall, map));
}

// The level at every cell of the map: the sum of the energies from all stretches.
__global__ void noise_levels(const Stretch *__restrict__ stretches, float *__restrict__ level, const Map map) {
    __shared__ Stretch chunk[CHUNK];
    int column = blockIdx.x * WIDTH + threadIdx.x, row = blockIdx.y * HEIGHT + threadIdx.y;
    int lane = threadIdx.y * WIDTH + threadIdx.x;
    float x = (column + 0.5f) * map.cell, y = (row + 0.5f) * map.cell, energy = 1e-3f;
    for (int start = 0; start < map.stretches; start += CHUNK) {
        int count = min(CHUNK, map.stretches - start);
        if (lane < count)
            chunk[lane] = stretches[start + lane];
        __syncthreads();
        for (int k = 0; k < count; k++)
            energy += EXP10(0.1f * level_db(chunk[k], x, y, map));
        __syncthreads();
    }
    if (column < map.columns && row < map.rows)
        level[(size_t)row * map.columns + column] = 10.0f * LOG10(energy);
}

static double reference_level(const std::vector<Stretch> &stretches, double x, double y, const Map &map) {
    double energy = 1e-3, dz = map.receiver_height - map.source_height;
    for (const Stretch &s : stretches) {
        double squared = (x - s.x) * (x - s.x) + (y - s.y) * (y - s.y) + dz * dz, d = sqrt(squared);
        double above = s.wall - map.source_height, drop = s.wall - map.receiver_height, far = std::max(d - 6, 1.0);
        double detour = sqrt(36 + above * above) + sqrt(far * far + drop * drop) - d;
        double screened = 10 * log10(3 + 60 * std::max(detour, 0.0)), height = map.receiver_height + map.source_height;
        double ground = std::max(4.8 - height / d * (17 + 300 / d), 0.0);
        double loss = 10 * log10(squared) + 11 + map.air_db_per_m * d + std::max(ground, screened);
        energy += pow(10, 0.1 * (s.power - loss));
    }
    return 10 * log10(energy);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "motorways");
    Map map = {700, 500, 400, 10, 4, 0.5f, 0.004f};
    if (p.small)
        map.columns = 200, map.rows = 130, map.stretches = 150;
    std::vector<Stretch> stretches(map.stretches);
    unsigned seed = 9;
    for (int k = 0; k < map.stretches; k++) {
        float along = (float)k / map.stretches, bend = sinf(5 * along);
        float wall = k % 5 < 2 ? 0.0f : 1.5f + 0.5f * lcg_next(&seed, 6);
        stretches[k] = {along * map.columns * map.cell, (0.5f + 0.3f * bend) * map.rows * map.cell,
                        98 + 0.5f * lcg_next(&seed, 20), wall};
    }
    size_t cells = (size_t)map.columns * map.rows;
    Stretch *d_stretches = device_copy_of(stretches.data(), stretches.size());
    float *d_level = device_array<float>(cells);
    dim3 block(WIDTH, HEIGHT), grid((map.columns + WIDTH - 1) / WIDTH, (map.rows + HEIGHT - 1) / HEIGHT);
    pair_time(&p, [&] { noise_levels<<<grid, block>>>(d_stretches, d_level, map); });
    std::vector<float> level = host_copy_of(d_level, cells);
    for (size_t i = 0; i < cells; i += cells / 211) {
        double x = (i % map.columns + 0.5) * map.cell, y = (i / map.columns + 0.5) * map.cell;
        pair_near(&p, "level", i, reference_level(stretches, x, y, map), level[i], 1e-3);
    }
    return pair_end(&p);
}
