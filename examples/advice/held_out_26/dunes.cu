// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threadIdx.x counts along a row of the map, threadIdx.y counts the rows.
// Why: the threads of a warp were one below the other, and each access was spread over 32 rows of the map.
#include "../common.h"

enum { SIDE = 32, REACH = 6 };

#define SIGHT 0.25f  // how steep one looks up against the wind
#define REPOSE 0.6f  // the steepest slope on which sand stays

struct Map {
    int width, height;
    __host__ __device__ size_t at(int x, int y) const {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return (size_t)y * width + x;
    }
};

// How many cells away from (x, y) the wind, which comes from small x, is held off; 0: not at all.
static __host__ __device__ int shelter(Map map, const float *sand, int x, int y) {
    float here = sand[map.at(x, y)];
    for (int k = 1; k <= REACH; k++)
        if (sand[map.at(x - k, y)] > here + SIGHT * k)
            return k;
    return 0;
}

// What slides from a cell that high to a neighbour that high.
static __host__ __device__ float slides(float high, float low) {
    float too_much = high - low - REPOSE;
    return too_much > 0 ? too_much : 0.0f;
}

static __host__ __device__ float moved(Map map, const float *sand, int x, int y) {
    float here = sand[map.at(x, y)], change = 0;
    const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    for (int k = 0; k < 4; k++) {
        float there = sand[map.at(x + dx[k], y + dy[k])];
        change += slides(there, here) - slides(here, there);
    }
    return here + (shelter(map, sand, x, y) ? 0.125f : 0.0625f) * change;
}

// One step of the dunes' wandering.
__global__ void __launch_bounds__(SIDE *SIDE)
    wander(Map map, const float *__restrict__ sand, float *__restrict__ next) {
#ifdef AFTER
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
#else
    int x = blockIdx.x * SIDE + threadIdx.y, y = blockIdx.y * SIDE + threadIdx.x;
#endif
    if (x < map.width && y < map.height)
        next[map.at(x, y)] = moved(map, sand, x, y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dunes");
    Map map = {p.small ? 70 : 5000, p.small ? 45 : 4000};
    size_t cells = (size_t)map.width * map.height;
    std::vector<float> sand = random_floats(cells, 0, 4, 1);
    for (size_t i = 0; i < cells; i++)
        sand[i] += 0.125f * (float)(i % map.width % 40);
    float *d_sand = device_copy_of(sand.data(), cells), *d_next = device_array<float>(cells);
    dim3 blocks((map.width + SIDE - 1) / SIDE, (map.height + SIDE - 1) / SIDE);
    pair_time(&p, [&] { wander<<<blocks, dim3(SIDE, SIDE)>>>(map, d_sand, d_next); });
    std::vector<float> next = host_copy_of(d_next, cells);
    for (int y = 0; y < map.height; y += p.small ? 1 : 13)
        for (int x = 0; x < map.width; x += p.small ? 1 : 7)
            pair_near(&p, "sand", map.at(x, y), moved(map, sand.data(), x, y), next[map.at(x, y)], 1e-5);
    return pair_end(&p);
}
