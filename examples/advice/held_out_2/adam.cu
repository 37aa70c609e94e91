// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 256 threads instead of 32.
// Why: an SM holds 32 blocks at most, so blocks of one warp leave half of its warps unused, and each costs time to
// start.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

// One step of the Adam optimiser, from the old state to the new one.
__global__ void adam(const float *gradient, const float *mean, const float *square, float *new_mean, float *new_square,
                     float *change, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float g = gradient[i], m = 0.9f * mean[i] + 0.1f * g, v = 0.999f * square[i] + 0.001f * g * g;
    new_mean[i] = m;
    new_square[i] = v;
    change[i] = -0.001f * m * rsqrtf(v + 1e-8f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "adam");
    int n = p.small ? 1 << 17 : 1 << 22;
    std::vector<float> gradient = random_floats(n, -1, 1, 1), mean = random_floats(n, -1, 1, 2),
                       square = random_floats(n, 0, 1, 3);
    float *d_gradient = device_copy_of(gradient.data(), n), *d_mean = device_copy_of(mean.data(), n),
          *d_square = device_copy_of(square.data(), n), *d_new_mean = device_array<float>(n),
          *d_new_square = device_array<float>(n), *d_change = device_array<float>(n);
    pair_time(&p, [&] {
        adam<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_gradient, d_mean, d_square, d_new_mean, d_new_square, d_change, n);
    });
    std::vector<float> change = host_copy_of(d_change, n);
    for (int i = 0; i < n; i += 23) {
        double g = gradient[i], m = 0.9 * mean[i] + 0.1 * g, v = 0.999 * square[i] + 0.001 * g * g;
        pair_near(&p, "change", i, -0.001 * m / sqrt(v + 1e-8), change[i], 1e-5);
    }
    return pair_end(&p);
}
