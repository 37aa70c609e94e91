// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants are float instead of double.
// Why: everything else is float; a double constant turns each product with it into conversions and double arithmetic.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define CONSTANT(x) x##f
#else
#define CONSTANT(x) x
#endif

// Flights of hot-air balloons in steps of one second; the pilot burns whenever the balloon is below the wanted height
// and sinks. One thread per flight.
__global__ void fly(const float *volumes, const float *masses, const float *wanted, float *heights, float *burnt, int n,
                    int seconds) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float volume = volumes[i], mass = masses[i], goal = wanted[i];
    float height = 0, climb = 0, inside = 370, gas = 0;
    for (int s = 0; s < seconds; s++) {
        float outside = CONSTANT(288.15) - CONSTANT(0.0065) * height;
        float density = CONSTANT(1.225) * (CONSTANT(1.0) - CONSTANT(0.0000958) * height);
        float warmth = __fdividef(outside, inside);
        float lift = CONSTANT(9.81) * (density * volume * (CONSTANT(1.0) - warmth) - mass);
        float drag = CONSTANT(40.0) * climb * fabsf(climb);
        float burn = fminf(1.0f, fmaxf(0.0f, CONSTANT(0.01) * (goal - height) - CONSTANT(0.2) * climb));
        inside += CONSTANT(1.6) * burn - CONSTANT(0.004) * (inside - outside);
        climb += CONSTANT(0.0004) * (lift - drag);
        height = fmaxf(0.0f, height + climb);
        gas += CONSTANT(0.12) * burn;
    }
    heights[i] = height;
    burnt[i] = gas;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "balloons");
    int n = p.small ? 1024 : 132 * 2048, seconds = p.small ? 20 : 150;
    std::vector<float> volumes = random_floats(n, 2000, 3000, 1), masses = random_floats(n, 450, 600, 2),
                       wanted = random_floats(n, 150, 600, 3);
    float *d_volumes = device_copy_of(volumes.data(), n), *d_masses = device_copy_of(masses.data(), n),
          *d_wanted = device_copy_of(wanted.data(), n);
    float *d_heights = device_array<float>(n), *d_burnt = device_array<float>(n);
    pair_time(&p, [&] {
        fly<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_volumes, d_masses, d_wanted, d_heights, d_burnt, n, seconds);
    });
    std::vector<float> heights = host_copy_of(d_heights, n), burnt = host_copy_of(d_burnt, n);
    for (int i = 0; i < n; i += p.small ? 1 : 61) {
        double height = 0, climb = 0, inside = 370, gas = 0;
        for (int s = 0; s < seconds; s++) {
            double outside = 288.15 - 0.0065 * height, density = 1.225 * (1 - 0.0000958 * height);
            double lift = 9.81 * (density * volumes[i] * (1 - outside / inside) - masses[i]);
            double burn = std::min(1.0, std::max(0.0, 0.01 * (wanted[i] - height) - 0.2 * climb));
            double drag = 40 * climb * fabs(climb);
            inside += 1.6 * burn - 0.004 * (inside - outside);
            climb += 0.0004 * (lift - drag);
            height = std::max(0.0, height + climb);
            gas += 0.12 * burn;
        }
        pair_near(&p, "height", i, height, heights[i], 5e-3);
        pair_near(&p, "gas", i, gas, burnt[i], 5e-3);
    }
    return pair_end(&p);
}
