// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the slope and the snow of the next stretch are loaded before this stretch is computed.
// Why: the speeds are stored in between, which the compiler may not move loads over; each stretch waits for its loads.
#include "../common.h"

enum { BLOCK = 128 };

// Sledges on their runs, stretch by stretch: the speed at the end of each stretch from its slope and its snow, found in
// a few rounds because the drag depends on it. One thread per sledge.
__global__ void slide(const float *slopes, const float *snows, const float *masses, float *speeds, float *times, int n,
                      int stretches, int rounds) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float per_mass = __fdividef(1.0f, masses[i]), speed = 1, time = 0;
    const float length = 5;
#ifdef AFTER
    float next_slope = slopes[i], next_snow = snows[i];
#endif
    for (int s = 0; s < stretches; s++) {
        size_t at = (size_t)s * n + i;
#ifdef AFTER
        float slope = next_slope, snow = next_snow;
        if (s + 1 < stretches) {
            next_slope = slopes[at + n];
            next_snow = snows[at + n];
        }
#else
        float slope = slopes[at], snow = snows[at];
#endif
        float end = speed, push = 9.81f * (slope - 0.02f - 0.05f * snow);
        for (int r = 0; r < rounds; r++) {
            float mean = 0.5f * (speed + end);
            float pull = push - 0.4f * per_mass * mean * mean;
            end = 0.5f * (end + sqrtf(fmaxf(0.25f, speed * speed + 2 * length * pull)));
        }
        time += __fdividef(2 * length, speed + end);
        speed = end;
        speeds[at] = speed;
    }
    times[i] = time;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sledges");
    int n = p.small ? 1024 : 132 * 256, stretches = p.small ? 12 : 150, rounds = 5;
    size_t count = (size_t)n * stretches;
    std::vector<float> slopes = random_floats(count, 0, 0.3f, 1), snows = random_floats(count, 0, 1, 2),
                       masses = random_floats(n, 40, 120, 3);
    float *d_slopes = device_copy_of(slopes.data(), count), *d_snows = device_copy_of(snows.data(), count),
          *d_masses = device_copy_of(masses.data(), n), *d_speeds = device_array<float>(count),
          *d_times = device_array<float>(n);
    pair_time(&p, [&] {
        slide<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_slopes, d_snows, d_masses, d_speeds, d_times, n, stretches, rounds);
    });
    std::vector<float> speeds = host_copy_of(d_speeds, count), times = host_copy_of(d_times, n);
    for (int i = 0; i < n; i += p.small ? 1 : 19) {
        double speed = 1, time = 0, length = 5;
        for (int s = 0; s < stretches; s++) {
            size_t at = (size_t)s * n + i;
            double end = speed, push = 9.81 * (slopes[at] - 0.02 - 0.05 * snows[at]);
            for (int r = 0; r < rounds; r++) {
                double mean = 0.5 * (speed + end), pull = push - 0.4 / masses[i] * mean * mean;
                end = 0.5 * (end + sqrt(std::max(0.25, speed * speed + 2 * length * pull)));
            }
            time += 2 * length / (speed + end);
            speed = end;
            pair_near(&p, "speed", at, speed, speeds[at], 1e-3);
        }
        pair_near(&p, "time", i, time, times[i], 1e-3);
    }
    return pair_end(&p);
}
