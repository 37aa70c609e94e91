// SPDX-License-Identifier: Apache-2.0
//
// Rule: native-atomic
// Change: charges are added to the cells by atomicAdd of doubles instead of by a loop around atomicCAS.
// Why: each turn of the loop fetches the cell, and all that another thread came before turn again.
#include "common.h"

enum { BLOCK = 256, CELLS = 2048 };

__device__ static void add(double *cell, double charge) {
#ifdef AFTER
    atomicAdd(cell, charge);
#else
    // As compute capabilities before 6.0 need it.
    unsigned long long *word = (unsigned long long *)cell, old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(charge + __longlong_as_double(assumed)));
    } while (assumed != old);
#endif
}

// The charges of particles at the cells that they are in, shared between a cell and the next one.
__global__ void charges(const float2 *particles, double *cells, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float2 particle = particles[i];  // place, charge
    int cell = (int)particle.x;
    double part = particle.x - (float)cell;
    add(&cells[cell], (1 - part) * particle.y);
    add(&cells[cell + 1], part * particle.y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "charges");
    int n = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> places = random_floats((size_t)n, 0, CELLS - 1, 1), charge = random_floats((size_t)n, 0.5f, 2, 2);
    std::vector<float2> particles((size_t)n);
    for (int i = 0; i < n; i++)
        particles[i] = make_float2(places[i], charge[i]);
    float2 *d_particles = device_copy_of(particles.data(), particles.size());
    double *d_cells = device_array<double>(CELLS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_cells, 0, CELLS * sizeof(double)));
        charges<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_particles, d_cells, n);
    });
    std::vector<double> sums(CELLS), got = host_copy_of(d_cells, CELLS);
    for (const float2 &particle : particles) {
        int cell = (int)particle.x;
        double part = particle.x - (float)cell;
        sums[cell] += (1 - part) * particle.y;
        sums[cell + 1] += part * particle.y;
    }
    for (size_t i = 0; i < CELLS; i++)
        pair_near(&p, "charge", i, sums[i], got[i], 1e-9);
    return pair_end(&p);
}
