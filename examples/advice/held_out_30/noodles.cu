// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a warp takes every eighth bead of the chain instead of a run of neighbouring ones.
// Why: early beads have many later ones to meet and late beads few, so that the last warps waited for the first.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, BEADS = 504, ROWS = BEADS / WARPS };

struct alignas(16) Bead {
    float x, y, z, charge;
};

// Energy of long chain molecules: all pairs of beads of a chain, screened charges and soft cores. A CTA takes its
// chains one after the other.
__global__ void chain_energy(const Bead *beads, float *energy, int chains) {
    __shared__ Bead chain[BEADS];
    __shared__ float part[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int c = blockIdx.x; c < chains; c += gridDim.x) {
        for (int i = threadIdx.x; i < BEADS; i += BLOCK)
            chain[i] = beads[c * BEADS + i];
        __syncthreads();
        float sum = 0;
        for (int row = 0; row < ROWS; row++) {
#ifdef AFTER
            int i = row * WARPS + warp;
#else
            int i = warp * ROWS + row;
#endif
            Bead a = chain[i];
            for (int j = i + 1 + lane; j < BEADS; j += 32) {
                Bead b = chain[j];
                float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
                float r = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                sum += a.charge * b.charge * expf(-0.5f * r) / r + expf(-4 * r);
            }
        }
        for (int step = 16; step; step /= 2)
            sum += __shfl_down_sync(~0u, sum, step);
        if (lane == 0)
            part[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            float all = 0;
            for (int w = 0; w < WARPS; w++)
                all += part[w];
            energy[c] = all;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "noodles");
    int ctas = p.small ? 2 : 132, chains = p.small ? 2 : 4 * 132;
    std::vector<float> r = random_floats((size_t)chains * BEADS * 4, -1, 1, 41);
    std::vector<Bead> beads((size_t)chains * BEADS);
    for (size_t i = 0; i < beads.size(); i++)
        beads[i] = {4 * r[4 * i], 4 * r[4 * i + 1], 4 * r[4 * i + 2], r[4 * i + 3]};
    Bead *d_beads = device_copy_of(beads.data(), beads.size());
    float *d_energy = device_array<float>(chains);
    pair_time(&p, [&] { chain_energy<<<ctas, BLOCK>>>(d_beads, d_energy, chains); });
    std::vector<float> energy = host_copy_of(d_energy, chains);
    for (int c = 0; c < chains; c += p.small ? 1 : 29) {
        const Bead *chain = &beads[(size_t)c * BEADS];
        double sum = 0;
        for (int i = 0; i < BEADS; i++)
            for (int j = i + 1; j < BEADS; j++) {
                double dx = chain[i].x - chain[j].x, dy = chain[i].y - chain[j].y, dz = chain[i].z - chain[j].z;
                double d = sqrt(dx * dx + dy * dy + dz * dz + 0.01);
                sum += chain[i].charge * chain[j].charge * exp(-0.5 * d) / d + exp(-4 * d);
            }
        pair_near(&p, "energy", c, sum, energy[c], 1e-3);
    }
    return pair_end(&p);
}
