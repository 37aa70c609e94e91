// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sines, cosines, exponentials and divisions are the intrinsics of the hardware.
// Why: the precise functions take many instructions, and the glides need three digits.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define SIN __sinf
#define COS __cosf
#define EXP __expf
#define QUOTIENT(a, b) __fdividef(a, b)
#else
#define SIN sinf
#define COS cosf
#define EXP expf
#define QUOTIENT(a, b) ((a) / (b))
#endif

// Gulls glide along a cliff: a warm updraught, a bank towards its middle, and sinking that grows with the bank. One
// thread per gull; where it is after some seconds and how high.
__global__ void glide(const float2 *from, const float *starts, float2 *to, float *heights, int n, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float x = from[i].x, y = from[i].y, heading = starts[i], height = 60;
    const float h = 0.25f, speed = 11.0f;
    for (int s = 0; s < steps; s++) {
        float across = COS(heading), along = SIN(heading);
        float bank = 0.4f * SIN(0.05f * (x + y));
        float air = EXP(-0.0008f * (x * x + y * y));
        float sink = QUOTIENT(0.6f, COS(bank)) - 2.0f * air;
        float gust = EXP(-0.02f * height) * 0.3f;
        heading += h * QUOTIENT(9.81f * SIN(bank), speed * COS(bank));
        x += h * (speed * across + gust);
        y += h * speed * along;
        height = fmaxf(0.0f, height - h * sink);
    }
    to[i] = make_float2(x, y);
    heights[i] = height;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "seagulls");
    int n = p.small ? 1024 : 132 * 2048, steps = p.small ? 8 : 40;
    std::vector<float> x = random_floats(n, -40, 40, 1), y = random_floats(n, -40, 40, 2),
                       starts = random_floats(n, -2, 2, 3);
    std::vector<float2> from(n);
    for (int i = 0; i < n; i++)
        from[i] = {x[i], y[i]};
    float2 *d_from = device_copy_of(from.data(), n), *d_to = device_array<float2>(n);
    float *d_starts = device_copy_of(starts.data(), n), *d_heights = device_array<float>(n);
    pair_time(&p, [&] { glide<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_from, d_starts, d_to, d_heights, n, steps); });
    std::vector<float2> to = host_copy_of(d_to, n);
    std::vector<float> heights = host_copy_of(d_heights, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        double gx = x[i], gy = y[i], heading = starts[i], height = 60, h = 0.25, speed = 11;
        for (int s = 0; s < steps; s++) {
            double bank = 0.4 * sin(0.05 * (gx + gy)), air = exp(-0.0008 * (gx * gx + gy * gy)),
                   sink = 0.6 / cos(bank) - 2 * air, gust = exp(-0.02 * height) * 0.3, before = heading;
            heading += h * 9.81 * sin(bank) / (speed * cos(bank));
            gx += h * (speed * cos(before) + gust);
            gy += h * speed * sin(before);
            height = std::max(0.0, height - h * sink);
        }
        pair_near(&p, "x", i, gx, to[i].x, 1e-2);
        pair_near(&p, "y", i, gy, to[i].y, 1e-2);
        pair_near(&p, "height", i, height, heights[i], 1e-2);
    }
    return pair_end(&p);
}
