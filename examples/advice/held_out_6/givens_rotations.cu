// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: rhypotf instead of divisions and a root, with their cases.
// Why: exact divisions and roots are sequences of instructions.
// Post: CUDA Pro Tip: Fast and Robust Computation of Givens Rotations
#include "../common.h"

enum { BLOCK = 256 };

__device__ void rotation(float a, float b, float &c, float &s) {
#ifdef AFTER
    float h = rhypotf(a, b);
    c = a * h;
    s = -b * h;
#else
    if (b == 0) {
        c = 1;
        s = 0;
    } else if (fabsf(b) > fabsf(a)) {
        float t = -a / b;
        s = 1 / sqrtf(1 + t * t);
        c = s * t;
    } else {
        float t = -b / a;
        c = 1 / sqrtf(1 + t * t);
        s = c * t;
    }
#endif
}

__global__ void rotations(const float *a, const float *b, float *c, float *s) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    rotation(a[i], b[i], c[i], s[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "givens_rotations");
    int n = p.small ? 1 << 16 : 1 << 23;
    std::vector<float> a = random_floats(n, -1, 1, 1), b = random_floats(n, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), n), *d_b = device_copy_of(b.data(), n), *d_c = device_array<float>(n),
          *d_s = device_array<float>(n);
    pair_time(&p, [&] { rotations<<<n / BLOCK, BLOCK>>>(d_a, d_b, d_c, d_s); });
    std::vector<float> c = host_copy_of(d_c, n), s = host_copy_of(d_s, n);
    for (int i = 0; i < n; i += 1009)
        if (a[i] != 0 || b[i] != 0)
            pair_near(&p, "zero", i, 0, (double)s[i] * a[i] + (double)c[i] * b[i], 1e-5);
    return pair_end(&p);
}
