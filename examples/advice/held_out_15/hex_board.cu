// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the six neighbours of a cell follow from its row and column instead of being looked up in a table.
// Why: the table is three times as large as all the other data, and each look-up is waited for before its value is.
#include "../common.h"

enum { BLOCK_X = 64, BLOCK_Y = 4, SIDES = 6 };

// The neighbour of a cell across a side; odd rows are half a cell to the right. Off the board it is the cell itself.
static __host__ __device__ int neighbour_of(int x, int y, int side, int width, int height) {
    int odd = y & 1, nx = x, ny = y;
    switch (side) {
    case 0: nx = x + 1; break;
    case 1: nx = x - 1; break;
    case 2: nx = x + odd, ny = y - 1; break;
    case 3: nx = x + odd - 1, ny = y - 1; break;
    case 4: nx = x + odd, ny = y + 1; break;
    default: nx = x + odd - 1, ny = y + 1;
    }
    return nx < 0 || nx >= width || ny < 0 || ny >= height ? y * width + x : ny * width + nx;
}

// One step of how the influence of two armies spreads over a board of hexagons; mountains let little through.
__global__ void spread(const int *table, const float *influence, const unsigned char *ground, float *next, int width,
                       int height) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, cell = y * width + x;
    float own = influence[cell], sum = 0;
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
#ifdef AFTER
        int other = neighbour_of(x, y, side, width, height);
#else
        int other = table[side * width * height + cell];
#endif
        sum += influence[other] - own;
    }
    float through = ground[cell] == 0 ? 0.15f : ground[cell] == 1 ? 0.08f : 0.01f;
    float value = own + through * sum;
    if (ground[cell] == 3)  // a town holds on to its side
        value = own > 0.0f ? fmaxf(value, 0.5f) : fminf(value, -0.5f);
    next[cell] = value;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hex_board");
    int width = p.small ? 128 : 4096, height = p.small ? 32 : 2048, n = width * height;
    std::vector<float> influence = random_floats(n, -1, 1, 1);
    std::vector<unsigned char> ground(n);
    lcg_fill(ground.data(), n, 2, 4);
    std::vector<int> table((size_t)n * SIDES);
    for (int side = 0; side < SIDES; side++)
        for (int cell = 0; cell < n; cell++)
            table[(size_t)side * n + cell] = neighbour_of(cell % width, cell / width, side, width, height);
    int *d_table = device_copy_of(table.data(), table.size());
    float *d_influence = device_copy_of(influence.data(), n), *d_next = device_array<float>(n);
    unsigned char *d_ground = device_copy_of(ground.data(), n);
    pair_time(&p, [&] {
        spread<<<dim3(width / BLOCK_X, height / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(d_table, d_influence, d_ground,
                                                                                    d_next, width, height);
    });
    std::vector<float> next = host_copy_of(d_next, n);
    const double through[4] = {0.15, 0.08, 0.01, 0.01};
    for (int i = 0; i < n; i += p.small ? 1 : 61) {
        double sum = 0;
        for (int side = 0; side < SIDES; side++)
            sum += (double)influence[table[(size_t)side * n + i]] - influence[i];
        double value = influence[i] + through[ground[i]] * sum;
        if (ground[i] == 3)
            value = influence[i] > 0 ? std::max(value, 0.5) : std::min(value, -0.5);
        pair_near(&p, "next", i, value, next[i], 1e-5);
    }
    return pair_end(&p);
}
