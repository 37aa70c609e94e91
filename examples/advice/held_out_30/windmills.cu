// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the lanes of a warp add up their totals with shuffles and one lane adds them to the global totals.
// Why: every thread of the GPU adds to the same three words, one after the other.
#include "../common.h"

enum { BLOCK = 192, HOURS = 240 };

struct Turbine {
    float cut_in, rated, cut_out;  // m/s
    float mean, memory, gust;      // of the wind
};

struct Totals {
    double energy, square, idle;
};

__host__ __device__ inline float gust_of(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (int)(*state >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

__host__ __device__ inline unsigned seed_of(unsigned scenario) {
    unsigned s = scenario * 2654435761u + 12345u;
    s ^= s >> 15;
    s *= 2246822519u;
    return s ^ (s >> 13);
}

// The yield of ten days in one scenario, as a part of what the turbine would yield at its rated power; *idle gets the
// part of the time in which it stood still.
__host__ __device__ inline float season(const Turbine &t, unsigned scenario, float *idle) {
    unsigned state = seed_of(scenario);
    float deviation = 0, sum = 0, still = 0;
    float scale = 1.0f / (t.rated - t.cut_in);
    for (int h = 0; h < HOURS; h++) {
        deviation = t.memory * deviation + t.gust * (gust_of(&state) + gust_of(&state));
        float v = t.mean + deviation;
        float x = fminf(fmaxf((v - t.cut_in) * scale, 0.0f), 1.0f);
        float power = v < t.cut_out ? x * x * (3.0f - 2.0f * x) : 0.0f;
        sum += power;
        still += power > 0.0f ? 0.0f : 1.0f;
    }
    *idle = still / HOURS;
    return sum / HOURS;
}

__global__ void windmills(Turbine turbine, int scenarios, Totals *totals) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    double energy = 0, square = 0, idle = 0;
    if (i < scenarios) {
        float still;
        float yield = season(turbine, i, &still);
        energy = yield;
        square = (double)yield * yield;
        idle = still;
    }
#ifdef AFTER
    for (int d = 16; d; d /= 2) {
        energy += __shfl_down_sync(0xffffffff, energy, d);
        square += __shfl_down_sync(0xffffffff, square, d);
        idle += __shfl_down_sync(0xffffffff, idle, d);
    }
    if (threadIdx.x % 32 == 0) {
#else
    if (i < scenarios) {
#endif
        atomicAdd(&totals->energy, energy);
        atomicAdd(&totals->square, square);
        atomicAdd(&totals->idle, idle);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "windmills");
    int scenarios = p.small ? 2500 : 150000;
    Turbine turbine = {3.5f, 13.0f, 25.0f, 9.0f, 0.93f, 1.4f};
    Totals *d_totals = device_array<Totals>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_totals, 0, sizeof(Totals)));
        windmills<<<(scenarios + BLOCK - 1) / BLOCK, BLOCK>>>(turbine, scenarios, d_totals);
    });
    Totals expected = {0, 0, 0}, got = host_copy_of(d_totals, 1)[0];
    for (int i = 0; i < scenarios; i++) {
        float idle;
        float yield = season(turbine, i, &idle);
        expected.energy += yield;
        expected.square += (double)yield * yield;
        expected.idle += idle;
    }
    pair_near(&p, "energy", 0, expected.energy, got.energy, 1e-3);
    pair_near(&p, "square", 0, expected.square, got.square, 1e-3);
    pair_near(&p, "idle", 0, expected.idle, got.idle, 1e-3);
    return pair_end(&p);
}
