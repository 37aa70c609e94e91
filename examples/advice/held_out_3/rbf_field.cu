// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Also: fast-math
// Change: the reciprocal of the width is computed once, ahead of the loop, and multiplied with.
// Why: each pair of a point and a centre divides by the same number.
#include "../common.h"

enum { BLOCK = 128 };

__global__ void rbf_field(const float *x, const float *y, const float2 *centre, const float *weight, float *out,
                          float width, int centres) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float px = x[i], py = y[i], sum = 0;
#ifdef AFTER
    float inverse = 1 / width;
#endif
    for (int c = 0; c < centres; c++) {
        float dx = px - centre[c].x, dy = py - centre[c].y, square = dx * dx + dy * dy;
#ifdef AFTER
        float r = fminf(square * inverse, 1);
#else
        float r = fminf(square / width, 1);
#endif
        sum += weight[c] * (1 - r) * (1 - r) * (1 - r);
    }
    out[i] = sum;
}

// A field interpolated from radial basis functions of compact support.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rbf_field");
    int n = p.small ? 1 << 13 : 1 << 18, centres = p.small ? 64 : 512;
    const float width = 0.3f;
    std::vector<float> x = random_floats(n, 0, 1, 1), y = random_floats(n, 0, 1, 2),
                       at = random_floats(2 * centres, 0, 1, 3), weight = random_floats(centres, -1, 1, 4);
    std::vector<float2> centre(centres);
    for (int c = 0; c < centres; c++)
        centre[c] = make_float2(at[2 * c], at[2 * c + 1]);
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_out = device_array<float>(n),
          *d_weight = device_copy_of(weight.data(), centres);
    float2 *d_centre = device_copy_of(centre.data(), centres);
    pair_time(&p, [&] { rbf_field<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_centre, d_weight, d_out, width, centres); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 331) {
        double sum = 0;
        for (int c = 0; c < centres; c++) {
            double dx = x[i] - centre[c].x, dy = y[i] - centre[c].y, r = std::min((dx * dx + dy * dy) / width, 1.0);
            sum += weight[c] * (1 - r) * (1 - r) * (1 - r);
        }
        pair_near(&p, "out", i, sum, out[i], 1e-3);
    }
    return pair_end(&p);
}
