// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: three kernels are one.
// Why: each does one operation on what the one before stored.
#include "../common.h"

enum { BLOCK = 256 };

__global__ void to_kelvin(const float *celsius, float *kelvin) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    kelvin[i] = celsius[i] + 273.15f;
}
__global__ void to_radiance(const float *kelvin, float *radiance) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float k = kelvin[i] * 0.01f;
    radiance[i] = 5.67f * k * k * k * k;
}
__global__ void to_counts(const float *radiance, float *counts, float gain) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    counts[i] = fminf(gain * radiance[i] + 12, 4095);
}
__global__ void all_at_once(const float *celsius, float *counts, float gain) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float k = (celsius[i] + 273.15f) * 0.01f;
    counts[i] = fminf(gain * (5.67f * k * k * k * k) + 12, 4095);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "unit_chain");
    int n = p.small ? 1 << 15 : 1 << 24;
    std::vector<float> celsius = random_floats(n, -20, 40, 1);
    float *d_celsius = device_copy_of(celsius.data(), n), *d_kelvin = device_array<float>(n), *d_radiance = device_array<float>(n), *d_counts = device_array<float>(n);
#ifdef AFTER
    (void)d_kelvin, (void)d_radiance;
    pair_time(&p, [&] { all_at_once<<<n / BLOCK, BLOCK>>>(d_celsius, d_counts, 3.0f); });
#else
    pair_time(&p, [&] {
        to_kelvin<<<n / BLOCK, BLOCK>>>(d_celsius, d_kelvin);
        to_radiance<<<n / BLOCK, BLOCK>>>(d_kelvin, d_radiance);
        to_counts<<<n / BLOCK, BLOCK>>>(d_radiance, d_counts, 3.0f);
    });
#endif
    std::vector<float> out = host_copy_of(d_counts, n);
    for (int i = 0; i < n; i += 1009) {
        double k = (celsius[i] + 273.15) * 0.01;
        pair_near(&p, "counts", i, std::min(3 * 5.67 * k * k * k * k + 12, 4095.0), out[i], 1e-4);
    }
    return pair_end(&p);
}
