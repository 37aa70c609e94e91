// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: gathers are stored trace by trace instead of as they were recorded, time by time.
// Why: neighbouring lanes compute neighbouring times, whose samples of one trace lie a whole row of traces apart.
#include "../common.h"

enum { BLOCK = 128, TRACES = 64 };

#ifdef AFTER
#define AT(gather, trace, time) (((size_t)(gather)*TRACES + (trace)) * samples + (time))
#else
#define AT(gather, trace, time) (((size_t)(gather)*samples + (time)) * TRACES + (trace))
#endif

static __host__ __device__ inline float velocity_at(float t0) { return 1500.0f + 900.0f * t0; }

// Normal moveout and stack: sums the samples of all traces along the hyperbola that starts at each time.
__global__ void moveout(const float *gathers, const float *offsets, float *stacked, int samples, float interval) {
    int time = blockIdx.x * BLOCK + threadIdx.x, gather = blockIdx.y;
    float t0 = (float)time * interval, slowness = 1.0f / velocity_at(t0), sum = 0;
    int live = 0;
    for (int trace = 0; trace < TRACES; trace++) {
        float delay = offsets[trace] * slowness;
        float at = sqrtf(t0 * t0 + delay * delay) / interval;
        int whole = (int)at;
        if (whole + 1 >= samples)
            continue;
        float part = at - (float)whole;
        sum += (1.0f - part) * gathers[AT(gather, trace, whole)] + part * gathers[AT(gather, trace, whole + 1)];
        live++;
    }
    stacked[gather * samples + time] = live ? sum / (float)live : 0.0f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "moveout");
    int gathers = p.small ? 2 : 256, samples = p.small ? 256 : 1024;
    float interval = 0.004f;
    size_t n = (size_t)gathers * samples;
    // A smooth wave and some noise, so that a rounded arrival time makes no great difference.
    std::vector<float> noise = random_floats(4096, -0.1f, 0.1f, 1), recorded(n * TRACES), offsets(TRACES);
    for (int g = 0; g < gathers; g++)
        for (int t = 0; t < samples; t++) {
            float wave = sinf(0.05f * (float)t + (float)g);
            for (int k = 0; k < TRACES; k++)
                recorded[AT(g, k, t)] = wave + noise[(t * 61 + k * 17 + g) & 4095];
        }
    for (int k = 0; k < TRACES; k++)
        offsets[k] = 25.0f * (float)(k + 1);
    float *d_recorded = device_copy_of(recorded.data(), recorded.size()),
          *d_offsets = device_copy_of(offsets.data(), TRACES), *d_stacked = device_array<float>(n);
    dim3 grid(samples / BLOCK, gathers);
    pair_time(&p, [&] { moveout<<<grid, BLOCK>>>(d_recorded, d_offsets, d_stacked, samples, interval); });
    std::vector<float> stacked = host_copy_of(d_stacked, n);
    for (size_t i = 0; i < n; i += 37) {
        int g = (int)(i / samples), time = (int)(i % samples), live = 0;
        bool doubtful = false;  // whether rounding decides if a trace counts
        double t0 = time * (double)interval, sum = 0;
        for (int k = 0; k < TRACES; k++) {
            double delay = offsets[k] / (double)velocity_at((float)t0);
            double at = sqrt(t0 * t0 + delay * delay) / interval;
            int whole = (int)at;
            doubtful = doubtful || fabs(at - (samples - 1)) < 0.01;
            if (whole + 1 >= samples)
                continue;
            sum += (1 - (at - whole)) * recorded[AT(g, k, whole)] + (at - whole) * recorded[AT(g, k, whole + 1)];
            live++;
        }
        if (!doubtful)
            pair_near(&p, "stacked", i, live ? sum / live : 0, stacked[i], 1e-3);
    }
    return pair_end(&p);
}
