// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the state of the cell itself is read into registers ahead of the loop over its faces.
// Why: each face's flux is stored, after which the compiler has to load the cell's own state once more.
#include "../common.h"

enum { BLOCK = 128, FACES = 4, PARTS = 4 };

// Flux through each face of a cell and their sum; cells know their neighbours by number.
__global__ void flux_faces(const float *state, const int *neighbours, const float *lengths, float *fluxes,
                           float *residual, int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
#ifdef AFTER
    float density = state[i], mx = state[cells + i], my = state[2 * cells + i], energy = state[3 * cells + i];
#endif
    for (int f = 0; f < FACES; f++) {
#ifndef AFTER
        float density = state[i], mx = state[cells + i], my = state[2 * cells + i], energy = state[3 * cells + i];
#endif
        int j = neighbours[f * cells + i];
        float pressure = 0.4f * (energy - 0.5f * (mx * mx + my * my) / density);
        float other = 0.4f * (state[3 * cells + j] - 0.5f * state[cells + j] * state[cells + j] / state[j]);
        float flux = lengths[f * cells + i] * (0.5f * (pressure + other) + 0.1f * (density - state[j]));
        fluxes[f * cells + i] = flux;
        sum += flux;
    }
    residual[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "flux_faces");
    int side = p.small ? 96 : 1024, cells = side * side;
    std::vector<float> state = random_floats((size_t)cells * PARTS, 1, 2, 1),
                       lengths = random_floats((size_t)cells * FACES, 0.5f, 1.5f, 2);
    std::vector<int> neighbours((size_t)cells * FACES);
    for (int i = 0; i < cells; i++) {
        int steps[FACES] = {1, -1, side, -side};
        for (int f = 0; f < FACES; f++)
            neighbours[(size_t)f * cells + i] = (i + steps[f] + cells) % cells;
    }
    float *d_state = device_copy_of(state.data(), state.size()),
          *d_lengths = device_copy_of(lengths.data(), lengths.size()), *d_fluxes = device_array<float>(lengths.size()),
          *d_residual = device_array<float>(cells);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    pair_time(&p, [&] {
        flux_faces<<<cells / BLOCK, BLOCK>>>(d_state, d_neighbours, d_lengths, d_fluxes, d_residual, cells);
    });
    std::vector<float> residual = host_copy_of(d_residual, cells);
    auto pressure_of = [&](size_t i, bool both) {
        double mx = state[cells + i], my = both ? state[2 * (size_t)cells + i] : 0;
        return 0.4 * (state[3 * (size_t)cells + i] - 0.5 * (mx * mx + my * my) / state[i]);
    };
    for (int i = 0; i < cells; i += 331) {
        double sum = 0;
        for (int f = 0; f < FACES; f++) {
            int j = neighbours[(size_t)f * cells + i];
            sum += lengths[(size_t)f * cells + i] *
                   (0.5 * (pressure_of(i, true) + pressure_of(j, false)) + 0.1 * ((double)state[i] - state[j]));
        }
        pair_near(&p, "residual", i, sum, residual[i], 1e-4);
    }
    return pair_end(&p);
}
