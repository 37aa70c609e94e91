// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the flow law are floats.
// Why: each double constant turns the arithmetic around it, exponential included, into double.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define CONSTANT(x) x##f
#else
#define CONSTANT(x) x
#endif

// Speed at the surface of a glacier (Glen's law): the ice shears in each layer, faster where it is warm.
__global__ void ice_speed(const float *thickness, const float *slope, const float *surface, float *speed, int layers) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float height = thickness[i] / (float)layers, weight = CONSTANT(910.0) * CONSTANT(9.81) * slope[i], sum = 0;
    for (int layer = 0; layer < layers; layer++) {
        float depth = height * ((float)layer + CONSTANT(0.5));
        float kelvin = surface[i] + CONSTANT(0.02) * depth;
        float stress = CONSTANT(1.0e-5) * weight * depth;
        float softness = CONSTANT(2.4) * exp(CONSTANT(7217.0) * (CONSTANT(0.003663) - CONSTANT(1.0) / kelvin));
        sum += CONSTANT(2.0) * softness * stress * stress * stress * height;
    }
    speed[i] = sum * CONSTANT(0.03);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "glaciers");
    int n = p.small ? 1 << 11 : 1 << 20, layers = p.small ? 6 : 20;
    std::vector<float> thickness = random_floats(n, 20, 300, 1), slope = random_floats(n, 0.02f, 0.3f, 2),
                       surface = random_floats(n, 250, 265, 3);
    float *d_thickness = device_copy_of(thickness.data(), n), *d_slope = device_copy_of(slope.data(), n),
          *d_surface = device_copy_of(surface.data(), n), *d_speed = device_array<float>(n);
    pair_time(&p, [&] { ice_speed<<<n / BLOCK, BLOCK>>>(d_thickness, d_slope, d_surface, d_speed, layers); });
    std::vector<float> speed = host_copy_of(d_speed, n);
    for (int i = 0; i < n; i += 101) {
        double height = thickness[i] / layers, weight = 910.0 * 9.81 * slope[i], sum = 0;
        for (int layer = 0; layer < layers; layer++) {
            double depth = height * (layer + 0.5), kelvin = surface[i] + 0.02 * depth, stress = 1e-5 * weight * depth;
            sum += 2 * 2.4 * exp(7217.0 * (0.003663 - 1 / kelvin)) * stress * stress * stress * height;
        }
        pair_near(&p, "speed", i, sum * 0.03, speed[i], 2e-4);
    }
    return pair_end(&p);
}
