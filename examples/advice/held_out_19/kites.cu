// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 256 threads, and four times as many of them.
// Why: with blocks of 1024 threads there are 66 blocks, and half of the multiprocessors have none.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 1024 };
#endif

struct Design {
    float area, mass, line, pitch;  // m2, kg, m, rad
};

// How kites of many designs stand in one and the same gusty wind: the final elevation and the strongest pull.
__global__ void __launch_bounds__(BLOCK)
    fly(const Design *designs, const float *gusts, float *elevations, float *pulls, int count, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Design kite = designs[i];
    float weight = 9.81f * kite.mass, inertia = 1.0f / (kite.mass * kite.line);
    float elevation = 0.6f, rate = 0, strongest = 0;
    for (int s = 0; s < steps; s++) {
        float up = __sinf(elevation), along = __cosf(elevation);
        float height = fmaxf(kite.line * up, 1.0f);
        float wind = 7.0f + 0.8f * __logf(0.1f * height) + gusts[s];
        float attack = fmaxf(kite.pitch - 0.2f * elevation, 0.02f), square = attack * attack;
        float lift = __fdividef(5.0f * attack, 1.0f + 4.0f * square), drag = 0.1f + 1.2f * square;
        float pressure = 0.6f * kite.area * wind * wind;
        float turning = (pressure * (lift * along - drag * up) - weight * along) * inertia;
        rate += 0.01f * (turning - 1.2f * rate);
        elevation = fminf(fmaxf(elevation + 0.01f * rate, 0.05f), 1.5f);
        strongest = fmaxf(strongest, pressure * (lift * up + drag * along) - weight * up);
    }
    elevations[i] = elevation;
    pulls[i] = strongest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kites");
    int n = p.small ? 1024 : 66 * 1024, steps = p.small ? 4 : 1500;
    std::vector<float> area = random_floats(n, 0.4f, 1.2f, 1), mass = random_floats(n, 0.2f, 0.5f, 2),
                       line = random_floats(n, 20, 80, 3), pitch = random_floats(n, 0.35f, 0.6f, 4),
                       gusts = random_floats(steps, -2, 2, 5);
    std::vector<Design> designs(n);
    for (int i = 0; i < n; i++)
        designs[i] = {area[i], mass[i], line[i], pitch[i]};
    Design *d_designs = device_copy_of(designs.data(), n);
    float *d_gusts = device_copy_of(gusts.data(), steps), *d_elevations = device_array<float>(n),
          *d_pulls = device_array<float>(n);
    pair_time(&p, [&] {
        fly<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_designs, d_gusts, d_elevations, d_pulls, n, steps);
    });
    std::vector<float> elevations = host_copy_of(d_elevations, n), pulls = host_copy_of(d_pulls, n);
    for (int i = 0; i < n; i += p.small ? 7 : 173) {
        Design k = designs[i];
        double weight = 9.81 * k.mass, elevation = 0.6, rate = 0, strongest = 0;
        for (int s = 0; s < steps; s++) {
            double up = sin(elevation), along = cos(elevation), height = std::max(k.line * up, 1.0),
                   wind = 7 + 0.8 * log(0.1 * height) + gusts[s], attack = std::max(k.pitch - 0.2 * elevation, 0.02),
                   square = attack * attack, lift = 5 * attack / (1 + 4 * square), drag = 0.1 + 1.2 * square,
                   pressure = 0.6 * k.area * wind * wind,
                   turning = (pressure * (lift * along - drag * up) - weight * along) / (k.mass * k.line);
            rate += 0.01 * (turning - 1.2 * rate);
            elevation = std::min(std::max(elevation + 0.01 * rate, 0.05), 1.5);
            strongest = std::max(strongest, pressure * (lift * up + drag * along) - weight * up);
        }
        pair_near(&p, "elevation", i, elevation, elevations[i], 2e-3);
        pair_near(&p, "pull", i, strongest, pulls[i], 2e-3);
    }
    return pair_end(&p);
}
