// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a thread sums up the runoff of its cells and adds the sum to the catchment's total only when the catchment
// changes or its cells end, instead of adding every cell.
// Why: neighbouring cells nearly always drain to the same catchment, so that all lanes of many warps queue up for the
// same few words; one sum a thread makes that queue many times shorter.
#include "../common.h"

// Flood forecast: rain on a terrain grid becomes runoff by the curve number method of the Soil Conservation Service;
// for every river's catchment the volume of runoff and the area that contributes are summed up.

constexpr int RIVERS = 48;
constexpr int THREADS = 128;
constexpr int STRIP = 32;               // rows that one thread goes down
constexpr float CELL_AREA = 0.00390625f;  // square kilometres; cells of 62.5 metres
constexpr int LAND_COVERS = 6;

__constant__ float curve_number[LAND_COVERS];

struct Totals {
    float volume;    // 1000 cubic metres
    float area;      // square kilometres with any runoff
    unsigned cells;  // all cells, for the mean
};

// Runoff in millimetres of `rain` millimetres.
__device__ __host__ inline float runoff_of(float rain, float number) {
    float retention = 25400.0f / number - 254.0f;
    float excess = rain - 0.2f * retention;
    return excess > 0 ? excess * excess / (excess + retention) : 0.0f;
}

__device__ inline void add(Totals *t, float volume, float area, unsigned cells) {
    atomicAdd(&t->volume, volume);
    atomicAdd(&t->area, area);
    atomicAdd(&t->cells, cells);
}

__global__ void sum_runoff(const float *__restrict__ rain, const unsigned char *__restrict__ cover,
                           const unsigned char *__restrict__ river, int width, int height, Totals *totals) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y0 = blockIdx.y * STRIP, y1 = min(y0 + STRIP, height);
    if (x >= width)
        return;
#ifdef AFTER
    float volume = 0, area = 0;
    unsigned cells = 0;
    int current = river[(size_t)y0 * width + x];
#endif
    for (int y = y0; y < y1; y++) {
        size_t at = (size_t)y * width + x;
        float depth = runoff_of(rain[at], curve_number[cover[at]]);
        int r = river[at];
        float wet = depth > 0 ? CELL_AREA : 0.0f;
#ifdef AFTER
        if (r != current) {
            add(&totals[current], volume, area, cells);
            volume = area = 0;
            cells = 0;
            current = r;
        }
        volume += depth * CELL_AREA;
        area += wet;
        cells++;
    }
    add(&totals[current], volume, area, cells);
#else
        add(&totals[r], depth * CELL_AREA, wet, 1);
    }
#endif
}

struct Terrain {
    int width, height;
    std::vector<float> rain;
    std::vector<unsigned char> cover, river;
};

// Catchments are bands that wind across the map; a storm lies over its middle.
static Terrain make_terrain(int width, int height) {
    Terrain t = {width, height, {}, {}, {}};
    size_t count = (size_t)width * height;
    t.rain = random_floats(count, 20.0f, 60.0f, 17);
    t.cover.resize(count);
    t.river.resize(count);
    unsigned seed = 18;
    std::vector<int> winding(width);
    for (int x = 0; x < width; x++)
        winding[x] = (int)(height * (0.04 * sin(x * 9.0 / width) + 0.015 * sin(x * 41.0 / width)) + 0.06 * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * width + x;
            int row = std::min(7, (int)(8LL * (y + winding[x]) / (height + height / 8)));
            int column = std::min(5, (6 * x + y) / width);
            t.river[at] = (unsigned char)(row * 6 + std::min(5, column));
            t.cover[at] = (unsigned char)((x / 5 + y / 7 + lcg_next(&seed, 2)) % LAND_COVERS);
            if (abs(2 * x - width) < width / 2 && abs(2 * y - height) < height / 2)
                t.rain[at] += 45.0f;
        }
    return t;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "catchments");
    Terrain t = p.small ? make_terrain(160, 64) : make_terrain(2048, 2048);
    const float numbers[LAND_COVERS] = {98, 89, 82, 74, 66, 58};

    CUDA_CHECK(cudaMemcpyToSymbol(curve_number, numbers, sizeof numbers));
    float *d_rain = device_copy_of(t.rain.data(), t.rain.size());
    unsigned char *d_cover = device_copy_of(t.cover.data(), t.cover.size());
    unsigned char *d_river = device_copy_of(t.river.data(), t.river.size());
    Totals *d_totals = device_array<Totals>(RIVERS);

    dim3 grid((t.width + THREADS - 1) / THREADS, (t.height + STRIP - 1) / STRIP);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_totals, 0, RIVERS * sizeof(Totals)));
        sum_runoff<<<grid, THREADS>>>(d_rain, d_cover, d_river, t.width, t.height, d_totals);
    });

    std::vector<double> volume(RIVERS), area(RIVERS), cells(RIVERS);
    for (size_t i = 0; i < t.rain.size(); i++) {
        float depth = runoff_of(t.rain[i], numbers[t.cover[i]]);
        volume[t.river[i]] += depth * CELL_AREA;
        area[t.river[i]] += depth > 0 ? CELL_AREA : 0;
        cells[t.river[i]]++;
    }
    std::vector<Totals> totals = host_copy_of(d_totals, RIVERS);
    for (int r = 0; r < RIVERS; r++) {
        pair_near(&p, "volume", r, volume[r], totals[r].volume, 3e-3);
        pair_near(&p, "area", r, area[r], totals[r].area, 3e-3);
        pair_near(&p, "cells", r, cells[r], totals[r].cells, 0);
    }
    CUDA_CHECK(cudaFree(d_rain));
    CUDA_CHECK(cudaFree(d_cover));
    CUDA_CHECK(cudaFree(d_river));
    CUDA_CHECK(cudaFree(d_totals));
    return pair_end(&p);
}
