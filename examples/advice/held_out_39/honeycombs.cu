// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the numbers of a cell's six neighbours are worked out from its row and column, not read from a table.
// Why: the table has 24 bytes for a cell that otherwise takes 16, and a neighbour's temperature can be asked for only
//      when its number has come.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, SIDES = 6 };

// The number of the neighbour on a side (0 east, then counterclockwise), or -1 at the frame. Odd rows of the comb
// are shifted to the east by half a cell.
__host__ __device__ static inline int neighbour(int row, int column, int side, int rows, int columns) {
    int odd = row & 1, r = row, c = column;
    if (side == 0)
        c++;
    else if (side == 3)
        c--;
    else {
        r += side < 3 ? -1 : 1;
        c += side == 1 || side == 5 ? odd : odd - 1;
    }
    return r < 0 || r >= rows || c < 0 || c >= columns ? -1 : r * columns + c;
}

// A step of time in all cells. conductance: of a cell's content, half of the way to a neighbour; source: of the heat
// that a degree less than the bees want makes them produce; neighbours: by side, then by cell.
__global__ void warm(const float *before, const float *conductance, const float *source, const int *neighbours,
                     float *after, int rows, int columns, float room, float step) {
    int column = blockIdx.x * BLOCK_X + threadIdx.x, row = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    int cell = row * columns + column, walls = 0;
    float temperature = before[cell], own = conductance[cell], flux = 0;
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
#ifdef AFTER
        int other = neighbour(row, column, side, rows, columns);
#else
        int other = neighbours[(size_t)side * rows * columns + cell];
#endif
        if (other >= 0)
            flux += fminf(own, conductance[other]) * (before[other] - temperature);
        else
            walls++;
    }
    flux += 0.3f * walls * own * (room - temperature);
    // Bees heat the brood to 35 degrees and fan when it is warmer.
    float wanted = fminf(fmaxf(35.f - temperature, -1.f), 1.f);
    after[cell] = temperature + step * (flux + source[cell] * wanted);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "honeycombs");
    int rows = p.small ? 120 : 4000, columns = p.small ? 160 : 4096, cells = rows * columns;
    float room = 14, step = 0.05f;
    enum { EMPTY, HONEY, POLLEN, BROOD, KINDS };
    const float conducts[KINDS] = {0.3f, 1.6f, 1.1f, 1.4f}, heats[KINDS] = {0, 0, 0.1f, 6};
    std::vector<float> before = random_floats(cells, 18, 36, 66), conductance(cells), source(cells);
    std::vector<int> neighbours((size_t)SIDES * cells);
    unsigned seed = 67;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            int cell = row * columns + column, place = (row / 25 + column / 40) % 3;
            bool other = lcg_next(&seed, 5) == 0;
            unsigned kind = other ? lcg_next(&seed, KINDS) : place == 0 ? HONEY : BROOD;
            conductance[cell] = conducts[kind], source[cell] = heats[kind];
            for (int side = 0; side < SIDES; side++)
                neighbours[(size_t)side * cells + cell] = neighbour(row, column, side, rows, columns);
        }
    float *d_before = device_copy_of(before.data(), cells), *d_after = device_array<float>(cells);
    float *d_conductance = device_copy_of(conductance.data(), cells), *d_source = device_copy_of(source.data(), cells);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    dim3 block(BLOCK_X, BLOCK_Y), grid((columns + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
    pair_time(&p, [&] {
        warm<<<grid, block>>>(d_before, d_conductance, d_source, d_neighbours, d_after, rows, columns, room, step);
    });
    std::vector<float> after = host_copy_of(d_after, cells);
    for (int cell = 0; cell < cells; cell += p.small ? 1 : 41) {
        double temperature = before[cell], own = conductance[cell], flux = 0;
        for (int side = 0; side < SIDES; side++) {
            int other = neighbours[(size_t)side * cells + cell];
            flux += other < 0 ? 0.3 * own * (room - temperature)
                              : std::min(own, (double)conductance[other]) * (before[other] - temperature);
        }
        double wanted = std::min(std::max(35.0 - temperature, -1.0), 1.0);
        pair_near(&p, "after", cell, temperature + step * (flux + source[cell] * wanted), after[cell], 1e-4);
    }
    return pair_end(&p);
}
