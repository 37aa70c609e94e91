// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the numbers of the twelve neighbours are computed from the site's place, not read from a table of neighbours.
// Why: on a lattice the table is nothing but traffic (48 bytes a site), and each atom's load waits for its number's.
#include "../common.h"

#include <cstdint>

enum { BLOCK_X = 16, BLOCK_Y = 4, BLOCK_Z = 4, NEAR = 12, SPECIES = 4 };

// A face-centred cubic crystal in its primitive axes: the twelve nearest atoms are one step along an axis, or one step
// along one axis and one back along another.
struct Crystal {
    int side;  // sites along each of the axes, periodic
};

struct Bonds {
    float energy;
    int unlike;
};

static __host__ __device__ int site_number(const Crystal &c, int x, int y, int z) {
    return (z * c.side + y) * c.side + x;
}

static __host__ __device__ void neighbours_of(const Crystal &c, int x, int y, int z, int near[NEAR]) {
    int last = c.side - 1;
    int left = x ? x - 1 : last, right = x < last ? x + 1 : 0, front = y ? y - 1 : last, back = y < last ? y + 1 : 0,
        below = z ? z - 1 : last, above = z < last ? z + 1 : 0;
    near[0] = site_number(c, left, y, z), near[1] = site_number(c, right, y, z);
    near[2] = site_number(c, x, front, z), near[3] = site_number(c, x, back, z);
    near[4] = site_number(c, x, y, below), near[5] = site_number(c, x, y, above);
    near[6] = site_number(c, left, back, z), near[7] = site_number(c, right, front, z);
    near[8] = site_number(c, left, y, above), near[9] = site_number(c, right, y, below);
    near[10] = site_number(c, x, front, above), near[11] = site_number(c, x, back, below);
}

static __device__ void add_bond(Bonds &b, const float *pair_energy, int mine, int other) {
    b.energy += pair_energy[mine * SPECIES + other];
    b.unlike += mine != other;
}

// Energy of an alloy's bonds at each site, and how many of its neighbours are of another metal (short-range order).
__global__ void alloys(Crystal c, const uint8_t *__restrict__ metal, const int *__restrict__ table,
                       const float *__restrict__ pair_energy, float *__restrict__ energy,
                       uint8_t *__restrict__ unlike) {
    __shared__ float pairs[SPECIES * SPECIES];
    int thread = (threadIdx.z * BLOCK_Y + threadIdx.y) * BLOCK_X + threadIdx.x;
    if (thread < SPECIES * SPECIES)
        pairs[thread] = pair_energy[thread];
    __syncthreads();
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y,
        z = blockIdx.z * BLOCK_Z + threadIdx.z;
    if (x >= c.side || y >= c.side || z >= c.side)
        return;
    int site = site_number(c, x, y, z), near[NEAR];
#ifdef AFTER
    neighbours_of(c, x, y, z, near);
#else
    int sites = c.side * c.side * c.side;
#pragma unroll
    for (int k = 0; k < NEAR; k++)
        near[k] = table[k * sites + site];
#endif
    int mine = metal[site];
    Bonds b = {0, 0};
#pragma unroll
    for (int k = 0; k < NEAR; k++)
        add_bond(b, pairs, mine, metal[near[k]]);
    energy[site] = 0.5f * b.energy;
    unlike[site] = b.unlike;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "alloys");
    Crystal c = {p.small ? 44 : 150};
    size_t sites = (size_t)c.side * c.side * c.side;
    std::vector<uint8_t> metal(sites);
    lcg_fill(metal.data(), sites, 1, SPECIES);
    std::vector<float> pair_energy = random_floats(SPECIES * SPECIES, -0.9f, -0.1f, 2);
    int *d_table = NULL;
#ifndef AFTER
    std::vector<int> table(sites * NEAR);
    for (size_t i = 0; i < sites; i++) {
        int near[NEAR];
        neighbours_of(c, i % c.side, i / c.side % c.side, i / c.side / c.side, near);
        for (int k = 0; k < NEAR; k++)
            table[k * sites + i] = near[k];
    }
    d_table = device_copy_of(table.data(), table.size());
#endif
    uint8_t *d_metal = device_copy_of(metal.data(), sites), *d_unlike = device_array<uint8_t>(sites);
    float *d_pairs = device_copy_of(pair_energy.data(), pair_energy.size()), *d_energy = device_array<float>(sites);
    dim3 block(BLOCK_X, BLOCK_Y, BLOCK_Z), grid((c.side + BLOCK_X - 1) / BLOCK_X, (c.side + BLOCK_Y - 1) / BLOCK_Y,
                                                (c.side + BLOCK_Z - 1) / BLOCK_Z);
    pair_time(&p, [&] { alloys<<<grid, block>>>(c, d_metal, d_table, d_pairs, d_energy, d_unlike); });
    std::vector<float> energy = host_copy_of(d_energy, sites);
    std::vector<uint8_t> unlike = host_copy_of(d_unlike, sites);
    const int steps[NEAR / 2][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 1, 0}, {-1, 0, 1}, {0, -1, 1}};
    for (size_t i = 0; i < sites; i += 53) {
        int place[3] = {(int)(i % c.side), (int)(i / c.side % c.side), (int)(i / c.side / c.side)};
        double sum = 0;
        int count = 0;
        for (int k = 0; k < NEAR; k++) {
            int at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = (place[axis] + (k & 1 ? 1 : -1) * steps[k / 2][axis] + c.side) % c.side;
            int other = metal[((size_t)at[2] * c.side + at[1]) * c.side + at[0]];
            sum += pair_energy[metal[i] * SPECIES + other];
            count += other != metal[i];
        }
        pair_near(&p, "energy", i, 0.5 * sum, energy[i], 1e-5);
        pair_near(&p, "unlike", i, count, unlike[i], 0);
    }
    return pair_end(&p);
}
