// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: where a tile of the map begins is computed instead of looked up in a table of pointers.
// Why: the way goes on from the heights around, and each of them waited for two loads, one after the other.
#include "../common.h"

enum { BLOCK = 256, TILE = 64, CELLS = TILE * TILE, SEA = 300 };

typedef unsigned short Height;

struct Map {
    const Height *const *tiles;  // the heights of each tile
    const Height *first;         // they are all in one array, tile after tile
    int across;                  // tiles in a row
};

static __host__ __device__ int height_at(const Map &map, unsigned x, unsigned y) {
    unsigned tile = y / TILE * map.across + x / TILE;
#ifdef AFTER
    const Height *heights = map.first + (size_t)tile * CELLS;
#else
    const Height *heights = map.tiles[tile];
#endif
    return heights[y % TILE * TILE + x % TILE];
}

struct Hike {
    int x, y, climbed, steps;
};

// A lost hiker goes to the lowest of the cells around, but not back, until the sea, the map's end or the night.
static __host__ __device__ Hike go_down(const Map &map, int x, int y, int night) {
    int side = map.across * TILE, height = height_at(map, x, y), back = -1, climbed = 0, steps = 0;
    while (steps < night && height >= SEA && x > 0 && y > 0 && x < side - 1 && y < side - 1) {
        int around[4] = {height_at(map, x + 1, y), height_at(map, x, y + 1), height_at(map, x - 1, y),
                         height_at(map, x, y - 1)};
        int lowest = 1 << 20, way = 0;
        for (int k = 0; k < 4; k++)
            if (k != back && around[k] < lowest) {
                lowest = around[k];
                way = k;
            }
        x += (way == 0) - (way == 2);
        y += (way == 1) - (way == 3);
        climbed += lowest > height ? lowest - height : 0;
        height = lowest;
        back = way ^ 2;
        steps++;
    }
    return {x, y, climbed, steps};
}

__global__ void hike(Map map, const ushort2 *starts, Hike *hikes, int hikers, int night) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < hikers)
        hikes[i] = go_down(map, starts[i].x, starts[i].y, night);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mountains");
    int across = p.small ? 4 : 64, side = across * TILE, tiles = across * across, hikers = p.small ? 1000 : 1000000,
        night = p.small ? 12 : 80;
    unsigned seed = 9;
    std::vector<Height> heights((size_t)tiles * CELLS);
    for (int tile = 0; tile < tiles; tile++)
        for (int cell = 0; cell < CELLS; cell++) {
            int x = tile % across * TILE + cell % TILE, y = tile / across * TILE + cell / TILE;
            int broad = abs((x + y / 2) % 1024 - 512) + abs((y + x / 4) % 512 - 256);
            heights[(size_t)tile * CELLS + cell] = 2 * broad + lcg_next(&seed, 256);
        }
    std::vector<ushort2> starts(hikers);
    int x = 0, y = 0;
    for (int i = 0; i < hikers; i++) {  // 32 of them from one hut
        if (i % 32 == 0) {
            x = 8 + lcg_next(&seed, side - 16);
            y = 8 + lcg_next(&seed, side - 16);
        }
        starts[i] = make_ushort2(x + i % 8 - 4, y + i / 8 % 4 - 2);
    }
    Height *d_heights = device_copy_of(heights.data(), heights.size());
    std::vector<const Height *> table(tiles), host_table(tiles);
    for (int tile = 0; tile < tiles; tile++) {
        table[tile] = d_heights + (size_t)tile * CELLS;
        host_table[tile] = heights.data() + (size_t)tile * CELLS;
    }
    Map map = {device_copy_of(table.data(), tiles), d_heights, across},
        host_map = {host_table.data(), heights.data(), across};
    ushort2 *d_starts = device_copy_of(starts.data(), hikers);
    Hike *d_hikes = device_array<Hike>(hikers);
    pair_time(&p, [&] { hike<<<(hikers + BLOCK - 1) / BLOCK, BLOCK>>>(map, d_starts, d_hikes, hikers, night); });
    std::vector<Hike> hikes = host_copy_of(d_hikes, hikers);
    for (int i = 0; i < hikers; i += p.small ? 1 : 47) {
        Hike want = go_down(host_map, starts[i].x, starts[i].y, night);
        pair_near(&p, "x", i, want.x, hikes[i].x, 0);
        pair_near(&p, "y", i, want.y, hikes[i].y, 0);
        pair_near(&p, "climbed", i, want.climbed, hikes[i].climbed, 0);
        pair_near(&p, "steps", i, want.steps, hikes[i].steps, 0);
    }
    return pair_end(&p);
}
