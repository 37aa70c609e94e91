// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a CTA adds up the charges of its particles on a grid in shared memory and adds that to the grid at its end.
// Why: particles all over the GPU change the same few thousand words.
#include "../common.h"

enum { BLOCK = 512, GRID = 48, CELLS = GRID * GRID, PER_THREAD = 32, ONE = 1 << 8 };

// Particle in cell: each particle's charge goes to the four corners of its cell, in fixed point, so that any order
// gives the same sums.
__global__ void charge_deposit(const float2 *where, unsigned *charge, int particles) {
#ifdef AFTER
    __shared__ unsigned own[CELLS];
    for (int c = threadIdx.x; c < CELLS; c += BLOCK)
        own[c] = 0;
    __syncthreads();
#else
    unsigned *own = charge;
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < particles; i += gridDim.x * BLOCK) {
        float2 at = where[i];
        int x = (int)at.x, y = (int)at.y;
        unsigned fx = (unsigned)((at.x - x) * ONE), fy = (unsigned)((at.y - y) * ONE);
        unsigned *corner = own + y * GRID + x;
        atomicAdd(corner, (ONE - fx) * (ONE - fy));
        atomicAdd(corner + 1, fx * (ONE - fy));
        atomicAdd(corner + GRID, (ONE - fx) * fy);
        atomicAdd(corner + GRID + 1, fx * fy);
    }
#ifdef AFTER
    __syncthreads();
    for (int c = threadIdx.x; c < CELLS; c += BLOCK)
        atomicAdd(&charge[c], own[c]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "charge_deposit");
    int particles = p.small ? 1 << 16 : 1 << 22;
    std::vector<float> place = random_floats((size_t)2 * particles, 0, GRID - 1.01f, 1);
    float2 *d_where = (float2 *)device_copy_of(place.data(), place.size());
    unsigned *d_charge = device_array<unsigned>(CELLS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_charge, 0, CELLS * sizeof(unsigned)));
        charge_deposit<<<particles / (BLOCK * PER_THREAD), BLOCK>>>(d_where, d_charge, particles);
    });
    std::vector<unsigned> charge = host_copy_of(d_charge, CELLS), expected(CELLS);
    for (int i = 0; i < particles; i++) {
        int x = (int)place[2 * i], y = (int)place[2 * i + 1];
        unsigned fx = (unsigned)((place[2 * i] - x) * ONE), fy = (unsigned)((place[2 * i + 1] - y) * ONE);
        expected[y * GRID + x] += (ONE - fx) * (ONE - fy);
        expected[y * GRID + x + 1] += fx * (ONE - fy);
        expected[(y + 1) * GRID + x] += (ONE - fx) * fy;
        expected[(y + 1) * GRID + x + 1] += fx * fy;
    }
    for (int c = 0; c < CELLS; c++)
        pair_near(&p, "charge", c, expected[c], charge[c], 0);
    return pair_end(&p);
}
