// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: heights are one array indexed by row and column instead of a table of pointers to rows.
// Why: each step down waits for a row's pointer and only then for the height behind it.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define TERRAIN const float *terrain, int width
#define HEIGHT(x, y) terrain[(y)*width + (x)]
#else
#define TERRAIN const float *const *terrain, int width
#define HEIGHT(x, y) terrain[y][x]
#endif

// Follows an avalanche from each start: it takes the lowest of four neighbours and speeds up, or rests in a hollow.
static __host__ __device__ inline float slide(TERRAIN, int height, int x, int y, int steps) {
    float here = HEIGHT(x, y), energy = 0, most = 0;
    for (int s = 0; s < steps && x > 0 && y > 0 && x < width - 1 && y < height - 1; s++) {
        float west = HEIGHT(x - 1, y), east = HEIGHT(x + 1, y), north = HEIGHT(x, y - 1), south = HEIGHT(x, y + 1);
        float lowest = fminf(fminf(west, east), fminf(north, south));
        if (lowest >= here)
            break;
        energy = fmaxf(energy * 0.95f + here - lowest - 0.2f, 0.0f);
        most = fmaxf(most, energy);
        if (lowest == south)
            y++;
        else if (lowest == north)
            y--;
        else
            x += lowest == east ? 1 : -1;
        here = lowest;
    }
    return most;
}

__global__ void snow_slides(TERRAIN, int height, const int2 *starts, float *energies, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    energies[i] = slide(terrain, width, height, starts[i].x, starts[i].y, steps);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "snow_slides");
    int width = p.small ? 128 : 2048, height = width, starts = p.small ? 512 : 1 << 16, steps = p.small ? 24 : 400;
    std::vector<float> terrain = random_floats((size_t)width * height, 0, 0.8f, 1);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            terrain[y * width + x] += 0.9f * (float)(height - y) + 0.004f * (float)((x % 256 - 128) * (x % 256 - 128));
    std::vector<int2> places(starts);
    unsigned seed = 2;
    for (int2 &place : places) {
        place.x = 1 + lcg_next(&seed, width - 2);
        place.y = 1 + lcg_next(&seed, height / 2);
    }
    float *d_terrain = device_copy_of(terrain.data(), terrain.size()), *d_energies = device_array<float>(starts);
    int2 *d_starts = device_copy_of(places.data(), starts);
#ifdef AFTER
    const float *argument = d_terrain, *reference = terrain.data();
#else
    std::vector<const float *> rows(height), host_rows(height);
    for (int y = 0; y < height; y++) {
        rows[y] = d_terrain + (size_t)y * width;
        host_rows[y] = &terrain[(size_t)y * width];
    }
    const float **argument = device_copy_of(rows.data(), height), **reference = host_rows.data();
#endif
    pair_time(&p,
              [&] { snow_slides<<<starts / BLOCK, BLOCK>>>(argument, width, height, d_starts, d_energies, steps); });
    std::vector<float> energies = host_copy_of(d_energies, starts);
    for (int i = 0; i < starts; i += 61)
        pair_near(&p, "energy", i, slide(reference, width, height, places[i].x, places[i].y, steps), energies[i], 1e-3);
    return pair_end(&p);
}
