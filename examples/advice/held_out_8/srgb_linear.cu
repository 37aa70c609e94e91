// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants get an f and pow becomes powf.
// Why: constants without f make the whole formula one in double precision.
#include "../common.h"

enum { BLOCK = 256 };

// sRGB values to linear light.
__global__ void srgb_linear(const float *in, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
#ifdef AFTER
    out[i] = x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
#else
    out[i] = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "srgb_linear");
    int n = p.small ? 1 << 14 : 3 * 3840 * 2160;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { srgb_linear<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, in[i] <= 0.04045 ? in[i] / 12.92 : pow((in[i] + 0.055) / 1.055, 2.4), out[i], 1e-5);
    return pair_end(&p);
}
