// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: 1200 CTAs of 256 threads instead of 300 of 1024.
// Why: two CTAs of 1024 threads fit an SM, 264 the GPU: the last 36 run while most SMs have nothing to do.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 1024 };
#endif
enum { WIDTH = 640, HEIGHT = 480, STEPS = 500 };

// How fast neighbours part (exponent of Lyapunov), where the rate of growth of a population is a and b by turns.
__global__ void lyapunov(float *exponents, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float a = 2.5f + 1.5f * (i % WIDTH) / WIDTH, b = 2.5f + 1.5f * (i / WIDTH) / HEIGHT, x = 0.5f, sum = 0;
    for (int k = 0; k < STEPS; k++) {
        float rate = k % 2 ? a : b;
        x = rate * x * (1 - x);
        sum += __logf(fabsf(rate * (1 - 2 * x)) + 1e-6f);
    }
    exponents[i] = sum / STEPS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lyapunov");
    int n = p.small ? WIDTH * 48 : WIDTH * HEIGHT;
    float *d_exponents = device_array<float>(n);
    pair_time(&p, [&] { lyapunov<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_exponents, n); });
    std::vector<float> exponents = host_copy_of(d_exponents, n);
    for (int i = 0; i < n; i += 997) {
        double a = 2.5 + 1.5 * (i % WIDTH) / WIDTH, b = 2.5 + 1.5 * (i / WIDTH) / HEIGHT, x = 0.5, sum = 0;
        for (int k = 0; k < STEPS; k++) {
            double rate = k % 2 ? a : b;
            x = rate * x * (1 - x);
            sum += log(fabs(rate * (1 - 2 * x)) + 1e-6);
        }
        if (sum < -1)  // not where it is chaotic or about to be
            pair_near(&p, "exponent", i, sum / STEPS, exponents[i], 0.1);
    }
    return pair_end(&p);
}
