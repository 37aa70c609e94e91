// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the base is a template parameter.
// Why: remainder and quotient by a number that the compiler does not know are long sequences of instructions.
#include "../common.h"

enum { BLOCK = 256 };

__device__ static float radical_inverse(unsigned i, unsigned base) {
    float result = 0, digit = 1.0f / base, inverse = digit;
    while (i > 0) {
        result += digit * (i % base);
        i /= base;
        digit *= inverse;
    }
    return result;
}

// Points of Halton's sequence.
#ifdef AFTER
template <unsigned P, unsigned Q> __global__ void halton(float2 *points, unsigned, unsigned) {
#else
__global__ void halton(float2 *points, unsigned P, unsigned Q) {
#endif
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    points[i] = make_float2(radical_inverse(i + 1, P), radical_inverse(i + 1, Q));
}

static double inverse_of(unsigned i, unsigned base) {
    double result = 0, digit = 1.0 / base;
    for (; i > 0; i /= base, digit /= base)
        result += digit * (i % base);
    return result;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "halton");
    int n = p.small ? 1 << 15 : 1 << 24;
    float2 *d_points = device_array<float2>(n);
#ifdef AFTER
    pair_time(&p, [&] { halton<3, 5><<<n / BLOCK, BLOCK>>>(d_points, 3, 5); });
#else
    pair_time(&p, [&] { halton<<<n / BLOCK, BLOCK>>>(d_points, 3, 5); });
#endif
    std::vector<float2> points = host_copy_of(d_points, n);
    for (int i = 0; i < n; i += 1009) {
        pair_near(&p, "x", i, inverse_of(i + 1, 3), points[i].x, 1e-4);
        pair_near(&p, "y", i, inverse_of(i + 1, 5), points[i].y, 1e-4);
    }
    return pair_end(&p);
}
