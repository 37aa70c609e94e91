// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for 2 resident blocks of 256 threads instead of 8.
// Why: 8 blocks leave 32 registers to a thread, and sixteen complex values alone are 32.
#include "../common.h"

enum { BLOCK = 256, N = 16 };
#ifdef AFTER
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 8 };
#endif

// Fourier transforms of 16 points (decimation in time), one a thread, repeated with weights in between; the points of
// neighbouring transforms lie side by side.
__global__ void __launch_bounds__(BLOCK, RESIDENT) fft16(const float *in, float *out, int count, int times) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    const float c[8] = {1, 0.92387953f, 0.70710678f, 0.38268343f, 0, -0.38268343f, -0.70710678f, -0.92387953f};
    const float s[8] = {0, -0.38268343f, -0.70710678f, -0.92387953f, -1, -0.92387953f, -0.70710678f, -0.38268343f};
    float re[N], im[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
        int from = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
        re[i] = in[(size_t)from * count + t];
        im[i] = 0;
    }
    for (int turn = 0; turn < times; turn++) {
#pragma unroll
        for (int half = 1; half < N; half *= 2)
#pragma unroll
            for (int i = 0; i < N / 2; i++) {
                int k = i % half, a = i / half * 2 * half + k, b = a + half, w = k * (8 / half);
                float x = re[b] * c[w] - im[b] * s[w], y = re[b] * s[w] + im[b] * c[w];
                re[b] = re[a] - x;
                im[b] = im[a] - y;
                re[a] += x;
                im[a] += y;
            }
#pragma unroll
        for (int i = 0; i < N; i++) {  // keeps the size
            re[i] *= 0.25f;
            im[i] *= 0.25f;
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        out[(size_t)(2 * i) * count + t] = re[i];
        out[(size_t)(2 * i + 1) * count + t] = im[i];
    }
}

// The same on the CPU.
static void expected_of(const std::vector<float> &in, int count, int times, int t, double *re, double *im) {
    for (int i = 0; i < N; i++) {
        int from = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
        re[i] = in[(size_t)from * count + t];
        im[i] = 0;
    }
    for (int turn = 0; turn < times; turn++) {
        for (int half = 1; half < N; half *= 2)
            for (int i = 0; i < N / 2; i++) {
                int k = i % half, a = i / half * 2 * half + k, b = a + half;
                double angle = -M_PI * k / half;
                double x = re[b] * cos(angle) - im[b] * sin(angle), y = re[b] * sin(angle) + im[b] * cos(angle);
                re[b] = re[a] - x;
                im[b] = im[a] - y;
                re[a] += x;
                im[a] += y;
            }
        for (int i = 0; i < N; i++) {
            re[i] *= 0.25;
            im[i] *= 0.25;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fft16");
    int count = p.small ? 1 << 15 : 1 << 19, times = 16;
    std::vector<float> in = random_floats((size_t)count * N, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size() * 2);
    pair_time(&p, [&] { fft16<<<count / BLOCK, BLOCK>>>(d_in, d_out, count, times); });
    std::vector<float> out = host_copy_of(d_out, in.size() * 2);
    for (int t = 0; t < count; t += count / 256) {
        double re[N], im[N];
        expected_of(in, count, times, t, re, im);
        for (int i = 0; i < N; i++) {
            pair_near(&p, "re", (size_t)t * N + i, re[i], out[(size_t)(2 * i) * count + t], 1e-4);
            pair_near(&p, "im", (size_t)t * N + i, im[i], out[(size_t)(2 * i + 1) * count + t], 1e-4);
        }
    }
    return pair_end(&p);
}
