// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the cycles go into shared memory by asynchronous copies, seven cycles ahead, in place of through registers.
// Why: a block waits for the memory no more in every cycle, as later cycles arrive while it works on this one.
#include "../common.h"

#include <cuda_pipeline.h>

enum { ANGLES = 384, DEPTH = 8 };

// The cylinder pressure of an engine over many cycles, one block an engine and one thread a crank angle: the highest
// smoothed pressure, and the mean difference from the pressure half a turn later.
__global__ void crankshafts(const float *pressure, float *peak, float *swing, int cycles) {
    const float *record = pressure + (size_t)blockIdx.x * cycles * ANGLES;
    int a = threadIdx.x;
    int back = a == 0 ? ANGLES - 1 : a - 1, ahead = a == ANGLES - 1 ? 0 : a + 1;
    int opposite = a < ANGLES / 2 ? a + ANGLES / 2 : a - ANGLES / 2;
    float highest = 0, difference = 0;
#ifdef AFTER
    __shared__ float stage[DEPTH][ANGLES];
    for (int c = 0; c < DEPTH - 1; c++) {
        if (c < cycles)
            __pipeline_memcpy_async(&stage[c][a], &record[c * ANGLES + a], sizeof(float));
        __pipeline_commit();
    }
#else
    __shared__ float stage[ANGLES];
#endif
    for (int c = 0; c < cycles; c++) {
#ifdef AFTER
        __pipeline_wait_prior(DEPTH - 2);
        __syncthreads();
        int later = c + DEPTH - 1;
        if (later < cycles)
            __pipeline_memcpy_async(&stage[later % DEPTH][a], &record[later * ANGLES + a], sizeof(float));
        __pipeline_commit();
        const float *now = stage[c % DEPTH];
#else
        __syncthreads();
        stage[a] = record[c * ANGLES + a];
        __syncthreads();
        const float *now = stage;
#endif
        float smooth = 0.25f * now[back] + 0.5f * now[a] + 0.25f * now[ahead];
        highest = fmaxf(highest, smooth);
        difference += smooth - now[opposite];
    }
    peak[blockIdx.x * ANGLES + a] = highest;
    swing[blockIdx.x * ANGLES + a] = difference / cycles;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crankshafts");
    int engines = p.small ? 5 : 528, cycles = p.small ? 21 : 150;
    std::vector<float> pressure = random_floats((size_t)engines * cycles * ANGLES, 1, 80, 7);
    float *d_pressure = device_copy_of(pressure.data(), pressure.size());
    float *d_peak = device_array<float>(engines * ANGLES), *d_swing = device_array<float>(engines * ANGLES);
    pair_time(&p, [&] { crankshafts<<<engines, ANGLES>>>(d_pressure, d_peak, d_swing, cycles); });
    std::vector<float> peak = host_copy_of(d_peak, engines * ANGLES), swing = host_copy_of(d_swing, engines * ANGLES);
    for (int i = 0; i < engines * ANGLES; i += 101) {
        int a = i % ANGLES;
        double highest = 0, difference = 0;
        for (int c = 0; c < cycles; c++) {
            const float *now = &pressure[((size_t)(i / ANGLES) * cycles + c) * ANGLES];
            double smooth = 0.25 * now[(a + ANGLES - 1) % ANGLES] + 0.5 * now[a] + 0.25 * now[(a + 1) % ANGLES];
            highest = std::max(highest, smooth);
            difference += smooth - now[(a + ANGLES / 2) % ANGLES];
        }
        pair_near(&p, "peak", i, highest, peak[i], 1e-4);
        pair_near(&p, "swing", i, difference / cycles, swing[i], 1e-3);
    }
    return pair_end(&p);
}
