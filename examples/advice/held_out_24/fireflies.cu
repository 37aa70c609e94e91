// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the gust of wind is loaded at the start of a step and no longer just where it is used.
// Why: the compiler moves no load over a barrier; loaded early, it arrives while the glow is computed and exchanged.
#include "../common.h"

enum { SWARM = 512, REACH = 4 };

// Light of a firefly in this phase of its cycle, 16 bits; a bell that gets steeper round by round.
__host__ __device__ inline unsigned glow_of(unsigned phase) {
    unsigned x = phase >> 16, near = x < 32768 ? 2 * x : 2 * (65535 - x), light = near;
    for (int round = 0; round < 10; round++)
        light = (light * light >> 16) + (near * (65535 - light) >> 18);
    return light > 65535 ? 65535 : light;
}

__host__ __device__ inline unsigned next_phase(unsigned phase, unsigned speed, unsigned seen, unsigned gust) {
    return phase + (speed << 12) + seen * 37 + gust * 129;
}

// A swarm is a block: each firefly sees the lights of those within reach in its ring and hurries a little; gusts of
// wind hurry it too.
__global__ void __launch_bounds__(SWARM) swarm(const unsigned *phases, const unsigned *speeds, const unsigned *gusts,
                                               unsigned *ends, int *flashes, int n, int steps) {
    __shared__ unsigned lights[SWARM];
    int me = threadIdx.x, i = blockIdx.x * SWARM + me, bright = 0;
    unsigned phase = phases[i], speed = speeds[i];
    for (int t = 0; t < steps; t++) {
#ifdef AFTER
        unsigned gust = gusts[(size_t)t * n + i];
#endif
        unsigned light = glow_of(phase);
        bright += light > 12000;
        lights[me] = light;
        __syncthreads();
        unsigned seen = 0;
        for (int d = 1; d <= REACH; d++)
            seen += lights[(me + d) % SWARM] + lights[(me + SWARM - d) % SWARM];
        __syncthreads();
#ifndef AFTER
        unsigned gust = gusts[(size_t)t * n + i];
#endif
        phase = next_phase(phase, speed, seen, gust);
    }
    ends[i] = phase;
    flashes[i] = bright;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fireflies");
    int swarms = p.small ? 2 : 132 * 2, n = swarms * SWARM, steps = p.small ? 6 : 100;
    std::vector<unsigned> phases(n), speeds(n), gusts((size_t)steps * n);
    lcg_fill(phases.data(), n, 1, 1 << 24);
    lcg_fill(speeds.data(), n, 2, 20000);
    lcg_fill(gusts.data(), gusts.size(), 3, 1 << 20);
    for (unsigned &phase : phases)
        phase <<= 8;
    unsigned *d_phases = device_copy_of(phases.data(), n), *d_speeds = device_copy_of(speeds.data(), n);
    unsigned *d_gusts = device_copy_of(gusts.data(), gusts.size()), *d_ends = device_array<unsigned>(n);
    int *d_flashes = device_array<int>(n);
    pair_time(&p, [&] { swarm<<<swarms, SWARM>>>(d_phases, d_speeds, d_gusts, d_ends, d_flashes, n, steps); });
    std::vector<unsigned> ends = host_copy_of(d_ends, n);
    std::vector<int> flashes = host_copy_of(d_flashes, n);
    for (int s = 0; s < swarms; s += p.small ? 1 : 37) {
        std::vector<unsigned> phase(phases.begin() + s * SWARM, phases.begin() + (s + 1) * SWARM), lights(SWARM);
        std::vector<int> bright(SWARM);
        for (int t = 0; t < steps; t++) {
            for (int f = 0; f < SWARM; f++) {
                lights[f] = glow_of(phase[f]);
                bright[f] += lights[f] > 12000;
            }
            for (int f = 0; f < SWARM; f++) {
                unsigned seen = 0;
                for (int d = 1; d <= REACH; d++)
                    seen += lights[(f + d) % SWARM] + lights[(f + SWARM - d) % SWARM];
                phase[f] = next_phase(phase[f], speeds[s * SWARM + f], seen, gusts[(size_t)t * n + s * SWARM + f]);
            }
        }
        for (int f = 0; f < SWARM; f++) {
            pair_near(&p, "phase", s * SWARM + f, phase[f], ends[s * SWARM + f], 0);
            pair_near(&p, "flashes", s * SWARM + f, bright[f], flashes[s * SWARM + f], 0);
        }
    }
    return pair_end(&p);
}
