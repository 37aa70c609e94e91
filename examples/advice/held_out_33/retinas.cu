// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the six neighbours of a cell are found from its row and column, instead of being read from a table.
// Why: the table is six times as large as the cells' voltages, and no neighbour can be loaded before its entry is.
#include "../common.h"

enum { TILE_X = 64, TILE_Y = 4, NEIGHBOURS = 6 };

struct Mosaic {
    int rows, columns;  // odd rows are shifted right by half a cell
};

struct Membrane {
    float coupling;  // of gap junctions to each neighbour
    float leak;
    float feedback;  // of horizontal cells to the cones
};

// Neighbour k of a cell, in turn: left, right, the two above, the two below; a cell at the border stands for the ones
// that are missing.
static __host__ __device__ int neighbour(const Mosaic &m, int row, int column, int k) {
    int r = k < 2 ? row : k < 4 ? row - 1 : row + 1;
    int c = k < 2 ? column - 1 + 2 * k : column - 1 + (k & 1) + (row & 1);
    bool inside = r >= 0 && r < m.rows && c >= 0 && c < m.columns;
    return inside ? r * m.columns + c : row * m.columns + column;
}

// One step of the sheet of horizontal cells, coupled on a hexagonal mosaic, and the signal of the cones over them.
__global__ void horizontal_cells(const float *voltage, const float *light, const int *neighbours, float *next,
                                 float *signal, Mosaic mosaic, Membrane membrane) {
    int column = blockIdx.x * TILE_X + threadIdx.x, row = blockIdx.y * TILE_Y + threadIdx.y;
    if (column >= mosaic.columns || row >= mosaic.rows)
        return;
    int cell = row * mosaic.columns + column;
    float own = voltage[cell], flow = 0;
#pragma unroll
    for (int k = 0; k < NEIGHBOURS; k++) {
#ifdef AFTER
        int other = neighbour(mosaic, row, column, k);
#else
        int other = neighbours[(size_t)k * mosaic.rows * mosaic.columns + cell];
#endif
        flow += voltage[other] - own;
    }
    float cone = light[cell] - membrane.feedback * own;
    cone = cone / (1 + fabsf(cone));
    next[cell] = own + membrane.coupling * flow - membrane.leak * own + 0.1f * cone;
    signal[cell] = cone;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "retinas");
    Mosaic mosaic = p.small ? Mosaic{500, 600} : Mosaic{2400, 3000};
    Membrane membrane = {0.12f, 0.05f, 0.7f};
    size_t n = (size_t)mosaic.rows * mosaic.columns;
    std::vector<float> voltage = random_floats(n, -1, 1, 4), light = random_floats(n, 0, 2, 5);
    std::vector<int> neighbours(n * NEIGHBOURS);
    for (int k = 0; k < NEIGHBOURS; k++)
        for (int row = 0; row < mosaic.rows; row++)
            for (int column = 0; column < mosaic.columns; column++)
                neighbours[k * n + (size_t)row * mosaic.columns + column] = neighbour(mosaic, row, column, k);
    float *d_voltage = device_copy_of(voltage.data(), n), *d_light = device_copy_of(light.data(), n),
          *d_next = device_array<float>(n), *d_signal = device_array<float>(n);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    dim3 grid((mosaic.columns + TILE_X - 1) / TILE_X, (mosaic.rows + TILE_Y - 1) / TILE_Y), block(TILE_X, TILE_Y);
    pair_time(&p, [&] {
        horizontal_cells<<<grid, block>>>(d_voltage, d_light, d_neighbours, d_next, d_signal, mosaic, membrane);
    });
    std::vector<float> next = host_copy_of(d_next, n), signal = host_copy_of(d_signal, n);
    for (size_t cell = 0; cell < n; cell += cell < (size_t)mosaic.columns ? 1 : n / 4999) {
        double own = voltage[cell], flow = 0;
        for (int k = 0; k < NEIGHBOURS; k++)
            flow += voltage[neighbours[k * n + cell]] - own;
        double cone = light[cell] - membrane.feedback * own;
        cone /= 1 + fabs(cone);
        pair_near(&p, "next", cell, own + membrane.coupling * flow - membrane.leak * own + 0.1 * cone, next[cell],
                  1e-4);
        pair_near(&p, "signal", cell, cone, signal[cell], 1e-4);
    }
    return pair_end(&p);
}
