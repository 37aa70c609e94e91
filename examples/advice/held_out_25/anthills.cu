// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the neighbours of a cell are computed from its row and column instead of looked up in a table.
// Why: every read of a neighbour waits for the read of its index, and the table is much larger than the map itself.
#include "../common.h"

enum { SIDES = 6 };

// The neighbour of a hexagon in one of six directions; odd rows are half a cell to the right, and the map is a torus.
static __host__ __device__ int beside(int column, int row, int side, int columns, int rows) {
    int up_or_down = side < 2 ? 0 : side < 4 ? -1 : 1;
    int right = up_or_down == 0 ? 2 * side - 1 : (side & 1) - 1 + (row & 1);
    column += right;
    column = column < 0 ? columns - 1 : column == columns ? 0 : column;
    row += up_or_down;
    row = row < 0 ? rows - 1 : row == rows ? 0 : row;
    return row * columns + column;
}

// The scent that the ants of an anthill have left spreads and fades; each cell also learns where it smells most.
__global__ void spread(const float *__restrict__ scent, const int *__restrict__ neighbours, float *__restrict__ later,
                       unsigned char *__restrict__ headings, int columns, int rows, float stay, float fade) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int cell = row * columns + column, heading = SIDES;
    float own = scent[cell], most = own, sum = 0;
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
#ifdef AFTER
        float there = scent[beside(column, row, side, columns, rows)];
#else
        float there = scent[neighbours[(size_t)side * columns * rows + cell]];
#endif
        sum += there;
        if (there > most) {
            most = there;
            heading = side;
        }
    }
    later[cell] = fade * (stay * own + (1 - stay) / SIDES * sum);
    headings[cell] = heading;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "anthills");
    int columns = p.small ? 70 : 4096, rows = p.small ? 40 : 2048;
    size_t cells = (size_t)columns * rows;
    float stay = 0.7f, fade = 0.98f;
    std::vector<float> scent = random_floats(cells, 0, 1, 12);
    std::vector<int> neighbours(SIDES * cells);
    for (int side = 0; side < SIDES; side++)
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns; column++)
                neighbours[side * cells + (size_t)row * columns + column] = beside(column, row, side, columns, rows);
    float *d_scent = device_copy_of(scent.data(), cells), *d_later = device_array<float>(cells);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    unsigned char *d_headings = device_array<unsigned char>(cells);
    dim3 block(64, 4), grid((columns + 63) / 64, (rows + 3) / 4);
    pair_time(&p, [&] {
        spread<<<grid, block>>>(d_scent, d_neighbours, d_later, d_headings, columns, rows, stay, fade);
    });
    std::vector<float> later = host_copy_of(d_later, cells);
    std::vector<unsigned char> headings = host_copy_of(d_headings, cells);
    for (size_t cell = 0; cell < cells; cell += p.small ? 1 : 53) {
        int column = (int)(cell % columns), row = (int)(cell / columns), odd = row % 2, heading = SIDES;
        int left = (column + columns - 1) % columns, right = (column + 1) % columns;
        int near = odd ? column : left, far = odd ? right : column;
        int above = (row + rows - 1) % rows, below = (row + 1) % rows;
        const int places[SIDES][2] = {{row, left}, {row, right},
                                      {above, near}, {above, far}, {below, near}, {below, far}};
        double sum = 0;
        float most = scent[cell];
        for (int side = 0; side < SIDES; side++) {
            float there = scent[(size_t)places[side][0] * columns + places[side][1]];
            sum += there;
            if (there > most) {
                most = there;
                heading = side;
            }
        }
        pair_near(&p, "later", cell, fade * (stay * scent[cell] + (1 - stay) / SIDES * sum), later[cell], 1e-5);
        pair_near(&p, "heading", cell, heading, headings[cell], 0);
    }
    return pair_end(&p);
}
