// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: exponentials, powers and quotients are the fast ones of the hardware.
// Why: the exact ones make most of the instructions, and a camera has fewer than four good digits.
#include "../common.h"

enum { BLOCK = 256, BANDS = 32 };

__constant__ float wavelengths[BANDS], absorptions[BANDS], answers[BANDS];  // micrometres, per metre, of the sensor

#ifdef AFTER
#define EXP(x) __expf(x)
#define POWER(x, y) __powf(x, y)
#define QUOTIENT(x, y) __fdividef(x, y)
#else
#define EXP(x) expf(x)
#define POWER(x, y) powf(x, y)
#define QUOTIENT(x, y) ((x) / (y))
#endif

// What an infrared camera sees of a kiln wall: Planck's law, the steel's emissivity and the air before it.
__global__ void kiln_camera(const float *kelvins, const float *metres, const float *rust, float *seen) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float kelvin = kelvins[i], way = metres[i], exponent = rust[i], sum = 0;
    for (int b = 0; b < BANDS; b++) {
        float wavelength = wavelengths[b];
        float emissivity = POWER(wavelength, exponent);
        float planck = QUOTIENT(1.0f, EXP(QUOTIENT(14388.0f, wavelength * kelvin)) - 1.0f);
        sum += answers[b] * emissivity * planck * EXP(-absorptions[b] * way);
    }
    seen[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kiln_camera");
    int n = p.small ? 1 << 10 : 1 << 20;
    std::vector<float> kelvins = random_floats(n, 900, 1800, 1), metres = random_floats(n, 1, 30, 2),
                       rust = random_floats(n, -0.6f, -0.1f, 3), absorption = random_floats(BANDS, 0, 0.05f, 4);
    float wavelength[BANDS], answer[BANDS];
    for (int b = 0; b < BANDS; b++) {
        wavelength[b] = 3.0f + 0.0625f * (float)b;
        answer[b] = 1e6f / powf(wavelength[b], 5);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(wavelengths, wavelength, sizeof wavelength));
    CUDA_CHECK(cudaMemcpyToSymbol(absorptions, absorption.data(), BANDS * sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(answers, answer, sizeof answer));
    float *d_kelvins = device_copy_of(kelvins.data(), n), *d_metres = device_copy_of(metres.data(), n),
          *d_rust = device_copy_of(rust.data(), n), *d_seen = device_array<float>(n);
    pair_time(&p, [&] { kiln_camera<<<n / BLOCK, BLOCK>>>(d_kelvins, d_metres, d_rust, d_seen); });
    std::vector<float> seen = host_copy_of(d_seen, n);
    for (int i = 0; i < n; i += 307) {
        double sum = 0;
        for (int b = 0; b < BANDS; b++)
            sum += answer[b] * pow(wavelength[b], rust[i]) * exp(-absorption[b] * metres[i]) /
                   (exp(14388.0 / (wavelength[b] * kelvins[i])) - 1);
        pair_near(&p, "seen", i, sum, seen[i], 1e-4);
    }
    return pair_end(&p);
}
