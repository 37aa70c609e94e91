// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threadIdx.x walks along a row of the terrain (east) instead of down a column of it (south).
// Why: rows are contiguous in memory; with neighbouring lanes in neighbouring rows, each load of a warp touches 32
// lines and each store 32 sectors.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// Slab avalanche hazard of a snow-covered slope.
struct Snow {
    float cell;      // metres between two points of the terrain
    float density;   // kg / m3
    float cohesion;  // Pa, of the weak layer
    float friction;  // tangent of the friction angle
};

static __device__ int clamp_to(int i, int count) {
    return max(0, min(i, count - 1));
}

// Resisting over driving stress on the weak layer under a slab on an endless slope, with a load for the snow that the
// wind adds where the ground is hollow.
static __device__ float factor_of_safety(const Snow &snow, float depth, float tangent2, float hollow) {
    float slab = depth * (1.0f + 0.25f * fminf(fmaxf(hollow, 0.0f), 2.0f));
    float cos2 = 1.0f / (1.0f + tangent2), weight = 9.81f * snow.density * slab;
    float normal = weight * cos2, shear = weight * cos2 * sqrtf(tangent2);
    return fminf((snow.cohesion + snow.friction * normal) / fmaxf(shear, 1.0f), 20.0f);
}

__global__ void avalanches(const float *__restrict__ terrain, const float *__restrict__ depth,
                           float *__restrict__ safety, Snow snow, int rows, int columns) {
#ifdef AFTER
    int column = blockIdx.x * BLOCK_X + threadIdx.x, row = blockIdx.y * BLOCK_Y + threadIdx.y;
#else
    int row = blockIdx.x * BLOCK_X + threadIdx.x, column = blockIdx.y * BLOCK_Y + threadIdx.y;
#endif
    if (row >= rows || column >= columns)
        return;
    size_t here = (size_t)row * columns + column;
    float middle = terrain[here];
    float north = terrain[(size_t)clamp_to(row - 1, rows) * columns + column],
          south = terrain[(size_t)clamp_to(row + 1, rows) * columns + column],
          west = terrain[(size_t)row * columns + clamp_to(column - 1, columns)],
          east = terrain[(size_t)row * columns + clamp_to(column + 1, columns)];
    float gx = (east - west) / (2.0f * snow.cell), gy = (south - north) / (2.0f * snow.cell);
    float hollow = (north + south + west + east - 4.0f * middle) / snow.cell;
    safety[here] = factor_of_safety(snow, depth[here], gx * gx + gy * gy, hollow);
}

static double reference(const std::vector<float> &terrain, const std::vector<float> &depth, const Snow &snow, int rows,
                        int columns, int row, int column) {
    auto height = [&](int r, int c) {
        r = std::max(0, std::min(r, rows - 1));
        c = std::max(0, std::min(c, columns - 1));
        return (double)terrain[(size_t)r * columns + c];
    };
    double north = height(row - 1, column), south = height(row + 1, column), west = height(row, column - 1),
           east = height(row, column + 1), middle = height(row, column);
    double gx = (east - west) / (2.0 * snow.cell), gy = (south - north) / (2.0 * snow.cell);
    double hollow = (north + south + west + east - 4 * middle) / snow.cell;
    double slab = depth[(size_t)row * columns + column] * (1 + 0.25 * std::min(std::max(hollow, 0.0), 2.0));
    double slope = atan(sqrt(gx * gx + gy * gy)), weight = 9.81 * snow.density * slab;
    double normal = weight * cos(slope) * cos(slope), shear = weight * cos(slope) * sin(slope);
    return std::min((snow.cohesion + snow.friction * normal) / std::max(shear, 1.0), 20.0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "avalanches");
    int rows = p.small ? 600 : 3000, columns = p.small ? 700 : 4200;
    size_t count = (size_t)rows * columns;
    Snow snow = {10.0f, 240.0f, 600.0f, 0.55f};
    std::vector<float> terrain = random_floats(count, 0, 6, 1), depth = random_floats(count, 0.3f, 2.5f, 2);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            terrain[(size_t)r * columns + c] += 4.0f * abs(r % 400 - 200) + 3.0f * abs(c % 300 - 150);
    float *d_terrain = device_copy_of(terrain.data(), count), *d_depth = device_copy_of(depth.data(), count),
          *d_safety = device_array<float>(count);
    dim3 block(BLOCK_X, BLOCK_Y);
#ifdef AFTER
    dim3 grid((columns + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
#else
    dim3 grid((rows + BLOCK_X - 1) / BLOCK_X, (columns + BLOCK_Y - 1) / BLOCK_Y);
#endif
    pair_time(&p, [&] { avalanches<<<grid, block>>>(d_terrain, d_depth, d_safety, snow, rows, columns); });
    std::vector<float> safety = host_copy_of(d_safety, count);
    for (size_t i = 0; i < count; i += 997) {
        double expected = reference(terrain, depth, snow, rows, columns, (int)(i / columns), (int)(i % columns));
        pair_near(&p, "safety", i, expected, safety[i], 1e-3);
    }
    return pair_end(&p);
}
