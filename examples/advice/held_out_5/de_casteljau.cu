// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: the degree is a template parameter, so that the loops unroll.
// Why: an array with variable indices lies in local memory: each point is stored and loaded again.
#include "../common.h"

enum { BLOCK = 128, MOST = 12 };

// A point of a Bezier curve for each thread, by repeated interpolation.
#ifdef AFTER
template <int DEGREE> __global__ void de_casteljau(const float2 *control, const float *at, float2 *out, int, int n) {
    constexpr int degree = DEGREE;
#else
__global__ void de_casteljau(const float2 *control, const float *at, float2 *out, int degree, int n) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 points[MOST];
    for (int k = 0; k <= degree; k++)
        points[k] = control[(size_t)k * n + i];
    float t = at[i];
    for (int left = degree; left > 0; left--)
        for (int k = 0; k < left; k++) {
            points[k].x += t * (points[k + 1].x - points[k].x);
            points[k].y += t * (points[k + 1].y - points[k].y);
        }
    out[i] = points[0];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "de_casteljau");
    int n = p.small ? 1 << 13 : 1 << 19, degree = 7;
    size_t all = (size_t)(degree + 1) * n;
    std::vector<float> control = random_floats(2 * all, -1, 1, 1), at = random_floats(n, 0, 1, 2);
    float2 *d_control = device_copy_of((const float2 *)control.data(), all), *d_out = device_array<float2>(n);
    float *d_at = device_copy_of(at.data(), n);
#ifdef AFTER
    pair_time(&p, [&] { de_casteljau<7><<<n / BLOCK, BLOCK>>>(d_control, d_at, d_out, degree, n); });
#else
    pair_time(&p, [&] { de_casteljau<<<n / BLOCK, BLOCK>>>(d_control, d_at, d_out, degree, n); });
#endif
    std::vector<float2> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double points[MOST];
        for (int k = 0; k <= degree; k++)
            points[k] = control[2 * ((size_t)k * n + i)];
        for (int left = degree; left > 0; left--)
            for (int k = 0; k < left; k++)
                points[k] += at[i] * (points[k + 1] - points[k]);
        pair_near(&p, "x", i, points[0], out[i].x, 1e-4);
    }
    return pair_end(&p);
}
