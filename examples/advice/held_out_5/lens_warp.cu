// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the intrinsics of the special function unit instead of the exact functions.
// Why: sines, logarithms, powers and divisions that are exact to the last bit are long sequences of instructions.
#include "../common.h"

enum { BLOCK = 256 };

// A fisheye lens' distortion and vignette for each pixel, from its angle and distance.
__global__ void lens_warp(const float *angle, const float *distance, float4 *out, float strength, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float a = angle[i], d = distance[i];
#ifdef AFTER
    float bent = __powf(d, strength) * __logf(1 + d);
    float edge = __fdividef(1, 1 + __expf(4 * (d - 1.5f)));
    out[i] = make_float4(bent * __cosf(a), bent * __sinf(a), edge, __fdividef(bent, d));
#else
    float bent = powf(d, strength) * logf(1 + d);
    float edge = 1 / (1 + expf(4 * (d - 1.5f)));
    out[i] = make_float4(bent * cosf(a), bent * sinf(a), edge, bent / d);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lens_warp");
    int n = p.small ? 1 << 15 : 1 << 20;
    std::vector<float> angle = random_floats(n, -3, 3, 1), distance = random_floats(n, 0.1f, 2, 2);
    float *d_angle = device_copy_of(angle.data(), n), *d_distance = device_copy_of(distance.data(), n);
    float4 *d_out = device_array<float4>(n);
    pair_time(&p, [&] { lens_warp<<<n / BLOCK, BLOCK>>>(d_angle, d_distance, d_out, 1.3f, n); });
    std::vector<float4> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double d = distance[i], bent = pow(d, 1.3f) * log(1 + d);
        pair_near(&p, "x", i, bent * cos(angle[i]), out[i].x, 1e-4);
        pair_near(&p, "edge", i, 1 / (1 + exp(4 * (d - 1.5))), out[i].z, 1e-4);
    }
    return pair_end(&p);
}
