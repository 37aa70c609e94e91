// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants get an f, and pow and exp become powf and expf.
// Why: constants without f make the whole formula one in double precision.
#include "../common.h"

enum { BLOCK = 256 };

// How high a weather balloon is, by pressure and temperature, and how dense the air is there.
__global__ void altitude(const float *pressure, const float *celsius, float *height, float *density) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float p = pressure[i], t = celsius[i];
#ifdef AFTER
    float h = (powf(1013.25f / p, 0.190223f) - 1) * (t + 273.15f) / 0.0065f;
    height[i] = h;
    density[i] = 1.225f * expf(-h / 8500.0f) + 0.001f * t;
#else
    float h = (pow(1013.25 / p, 0.190223) - 1) * (t + 273.15) / 0.0065;
    height[i] = h;
    density[i] = 1.225 * exp(-h / 8500.0) + 0.001 * t;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "altitude");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> pressure = random_floats(n, 100, 1000, 1), celsius = random_floats(n, -50, 30, 2);
    float *d_pressure = device_copy_of(pressure.data(), n), *d_celsius = device_copy_of(celsius.data(), n);
    float *d_height = device_array<float>(n), *d_density = device_array<float>(n);
    pair_time(&p, [&] { altitude<<<n / BLOCK, BLOCK>>>(d_pressure, d_celsius, d_height, d_density); });
    std::vector<float> height = host_copy_of(d_height, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "height", i, (pow(1013.25 / pressure[i], 0.190223) - 1) * (celsius[i] + 273.15) / 0.0065, height[i], 1e-3);
    return pair_end(&p);
}
