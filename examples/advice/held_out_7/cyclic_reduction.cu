// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a word is left free after every 32 of the arrays in shared memory.
// Why: the equations that are left lie 2, 4, 8, ... words apart, and so in fewer and fewer banks.
#include "../common.h"

enum { BLOCK = 256, SIZE = 512 };
#ifdef AFTER
enum { WORDS = SIZE + SIZE / 32 };
#define AT(i) ((i) + (i) / 32)
#else
enum { WORDS = SIZE };
#define AT(i) (i)
#endif

// Tridiagonal systems of 512 equations by cyclic reduction, one by each CTA: a x[i-1] + b x[i] + c x[i+1] = d.
__global__ void cyclic_reduction(const float *lower, const float *diagonal, const float *upper, const float *right,
                                 float *x) {
    __shared__ float a[WORDS], b[WORDS], c[WORDS], d[WORDS];
    int t = threadIdx.x;
    size_t first = (size_t)blockIdx.x * SIZE;
    for (int i = t; i < SIZE; i += BLOCK) {
        a[AT(i)] = lower[first + i];
        b[AT(i)] = diagonal[first + i];
        c[AT(i)] = upper[first + i];
        d[AT(i)] = right[first + i];
    }
    for (int stride = 1; stride < SIZE; stride *= 2) {
        __syncthreads();
        int i = 2 * stride * (t + 1) - 1;
        if (i >= SIZE)
            continue;
        int before = i - stride, behind = i + stride;
        float k1 = a[AT(i)] / b[AT(before)], k2 = behind < SIZE ? c[AT(i)] / b[AT(behind)] : 0;
        int last = behind < SIZE ? behind : i;
        b[AT(i)] -= c[AT(before)] * k1 + a[AT(last)] * k2;
        d[AT(i)] -= d[AT(before)] * k1 + d[AT(last)] * k2;
        a[AT(i)] = -a[AT(before)] * k1;
        c[AT(i)] = -c[AT(last)] * k2;
    }
    for (int stride = SIZE; stride; stride /= 2) {
        __syncthreads();
        int i = 2 * stride * t + stride - 1;
        if (i >= SIZE)
            continue;
        float sum = d[AT(i)];
        if (i >= stride)
            sum -= a[AT(i)] * d[AT(i - stride)];
        if (i + stride < SIZE)
            sum -= c[AT(i)] * d[AT(i + stride)];
        d[AT(i)] = sum / b[AT(i)];
    }
    __syncthreads();
    for (int i = t; i < SIZE; i += BLOCK)
        x[first + i] = d[AT(i)];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cyclic_reduction");
    int systems = p.small ? 128 : 1 << 14;
    size_t n = (size_t)systems * SIZE;
    std::vector<float> a = random_floats(n, -1, 1, 1), b = random_floats(n, 3, 4, 2), c = random_floats(n, -1, 1, 3),
                       d = random_floats(n, -1, 1, 4);
    for (size_t i = 0; i < n; i += SIZE)
        a[i] = c[i + SIZE - 1] = 0;
    float *d_a = device_copy_of(a.data(), n), *d_b = device_copy_of(b.data(), n), *d_c = device_copy_of(c.data(), n),
          *d_d = device_copy_of(d.data(), n), *d_x = device_array<float>(n);
    pair_time(&p, [&] { cyclic_reduction<<<systems, BLOCK>>>(d_a, d_b, d_c, d_d, d_x); });
    std::vector<float> x = host_copy_of(d_x, n);
    for (size_t i = 0; i < n; i += 1009) {
        double left = b[i] * x[i] + (i % SIZE ? a[i] * x[i - 1] : 0) + (i % SIZE < SIZE - 1 ? c[i] * x[i + 1] : 0);
        pair_near(&p, "left side", i, d[i], left, 1e-4);
    }
    return pair_end(&p);
}
