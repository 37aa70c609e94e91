// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: what a step needs from memory is loaded one step earlier, ahead of the barrier.
// Why: right behind the barrier all warps would wait for memory together, with nothing else to do.
#include "../common.h"

enum { CELLS = 128 };  // in a pack, and threads of a block

struct Cell {
    float amp_seconds, ohms;
};

struct Tracks {
    const float *amps;     // of each pack, step by step
    const float *coolant;  // kelvin at each cell, step by step
    float *volts;          // of each cell, step by step
};

// Drives electric cars round a test cycle: charge, voltage and heat of each cell, which warms its neighbours.
__global__ void __launch_bounds__(CELLS) drive(const Cell *cells, Tracks tracks, float *charges, int steps) {
    __shared__ float kelvins[2][CELLS + 2];
    int packs = gridDim.x, pack = blockIdx.x, slot = threadIdx.x + 1, id = pack * CELLS + threadIdx.x;
    Cell cell = cells[id];
    float charge = 0.95f, lag = 0, kelvin = 298;
    kelvins[0][slot] = kelvins[1][slot] = 298;
    if (threadIdx.x < 2)  // the walls of the pack
        kelvins[threadIdx.x][0] = kelvins[threadIdx.x][CELLS + 1] = 290;
#ifdef AFTER
    float next_amps = tracks.amps[pack], next_coolant = tracks.coolant[id];
#endif
    for (int step = 0; step < steps; step++) {
#ifdef AFTER
        float amps = next_amps, coolant = next_coolant;
        if (step + 1 < steps) {
            next_amps = tracks.amps[(step + 1) * packs + pack];
            next_coolant = tracks.coolant[(step + 1) * packs * CELLS + id];
        }
        __syncthreads();
#else
        __syncthreads();
        float amps = tracks.amps[step * packs + pack];
        float coolant = tracks.coolant[step * packs * CELLS + id];
#endif
        float ohms = cell.ohms * expf(1800.0f * (1.0f / kelvin - 1.0f / 298.0f));
        float open = 3.0f + 1.1f * charge - 0.45f * expf(-18.0f * charge) + 0.08f * logf(1.05f - charge);
        lag += 0.04f * (0.015f * amps - lag);
        tracks.volts[step * packs * CELLS + id] = open - amps * ohms - lag;
        float beside = kelvins[step & 1][slot - 1] + kelvins[step & 1][slot + 1] - 2 * kelvin;
        float cooled = (0.01f + 0.00004f * fabsf(amps)) * (kelvin - coolant);
        kelvin += 0.0004f * amps * amps * ohms + 0.02f * beside - cooled;
        charge = fminf(1.0f, fmaxf(0.02f, charge - amps / cell.amp_seconds));
        kelvins[(step + 1) & 1][slot] = kelvin;
    }
    charges[id] = charge;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "battery_pack");
    int packs = p.small ? 8 : 264, steps = p.small ? 32 : 480, n = packs * CELLS;
    std::vector<float> amps = random_floats((size_t)steps * packs, -60, 140, 1),
                       coolant = random_floats((size_t)steps * n, 285, 300, 2), capacity = random_floats(n, 0.9f, 1, 3),
                       ohms = random_floats(n, 0.002f, 0.004f, 4);
    std::vector<Cell> cells(n);
    for (int i = 0; i < n; i++)
        cells[i] = {180000 * capacity[i], ohms[i]};
    Cell *d_cells = device_copy_of(cells.data(), n);
    float *d_volts = device_array<float>((size_t)steps * n), *d_charges = device_array<float>(n);
    Tracks tracks = {device_copy_of(amps.data(), amps.size()), device_copy_of(coolant.data(), coolant.size()), d_volts};
    pair_time(&p, [&] { drive<<<packs, CELLS>>>(d_cells, tracks, d_charges, steps); });
    std::vector<float> volts = host_copy_of(d_volts, (size_t)steps * n), charges = host_copy_of(d_charges, n);
    for (int pack = 0; pack < packs; pack += 1 + packs / 8) {
        std::vector<double> charge(CELLS, 0.95), lag(CELLS, 0), kelvin(CELLS + 2, 298);
        kelvin[0] = kelvin[CELLS + 1] = 290;
        for (int step = 0; step < steps; step++) {
            std::vector<double> old = kelvin;
            double a = amps[(size_t)step * packs + pack];
            for (int c = 0; c < CELLS; c++) {
                size_t id = pack * CELLS + c, at = (size_t)step * n + id;
                double r = cells[id].ohms * exp(1800 * (1 / old[c + 1] - 1 / 298.0));
                double open = 3 + 1.1 * charge[c] - 0.45 * exp(-18 * charge[c]) + 0.08 * log(1.05 - charge[c]);
                lag[c] += 0.04 * (0.015 * a - lag[c]);
                pair_near(&p, "volts", at, open - a * r - lag[c], volts[at], 1e-4);
                kelvin[c + 1] += 0.0004 * a * a * r + 0.02 * (old[c] + old[c + 2] - 2 * old[c + 1]) -
                                 (0.01 + 0.00004 * fabs(a)) * (old[c + 1] - coolant[at]);
                charge[c] = std::min(1.0, std::max(0.02, charge[c] - a / cells[id].amp_seconds));
            }
        }
        for (int c = 0; c < CELLS; c++)
            pair_near(&p, "charge", pack * CELLS + c, charge[c], charges[pack * CELLS + c], 1e-4);
    }
    return pair_end(&p);
}
