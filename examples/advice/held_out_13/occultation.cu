// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sine and cosine are the fast ones of the hardware.
// Why: the exact ones take several times as many instructions as all the rest, and phases are small.
#include "../common.h"

enum { BLOCK = 256 };

// Brightness of a star while a ring passes in front: light from all parts of the ring plane interferes (Fresnel).
__global__ void occultation(const float *transmission, float *brightness, float width, float step, int parts) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float place = step * (float)i, part_width = width / (float)parts, real = 0, imaginary = 0;
    for (int part = 0; part < parts; part++) {
        float away = place - part_width * ((float)part + 0.5f);
        float phase = 1.5707963f * away * away;
#ifdef AFTER
        real += transmission[part] * __cosf(phase);
        imaginary += transmission[part] * __sinf(phase);
#else
        real += transmission[part] * cosf(phase);
        imaginary += transmission[part] * sinf(phase);
#endif
    }
    brightness[i] = 0.5f * part_width * part_width * (real * real + imaginary * imaginary);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "occultation");
    int n = p.small ? 512 : 1 << 17, parts = p.small ? 24 : 512;
    float width = p.small ? 2 : 6, step = width / (float)n;
    std::vector<float> transmission = random_floats(parts, 0, 1, 1);
    float *d_transmission = device_copy_of(transmission.data(), parts), *d_brightness = device_array<float>(n);
    pair_time(&p, [&] { occultation<<<n / BLOCK, BLOCK>>>(d_transmission, d_brightness, width, step, parts); });
    std::vector<float> brightness = host_copy_of(d_brightness, n);
    for (int i = 0; i < n; i += 211) {
        double part_width = (double)width / parts, real = 0, imaginary = 0;
        for (int part = 0; part < parts; part++) {
            double away = (double)step * i - part_width * (part + 0.5), phase = 1.5707963 * away * away;
            real += transmission[part] * cos(phase);
            imaginary += transmission[part] * sin(phase);
        }
        pair_near(&p, "brightness", i, 0.5 * part_width * part_width * (real * real + imaginary * imaginary),
                  brightness[i], 5e-4);
    }
    return pair_end(&p);
}
