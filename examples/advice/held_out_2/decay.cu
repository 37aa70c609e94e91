// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf becomes __expf.
// Why: it does not help: the DRAM is the limit, and the exponential is hidden behind it.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define EXP(x) __expf(x)
#else
#define EXP(x) expf(x)
#endif

// What is left of radioactive nuclei after some time.
__global__ void decay(const float *amount, const float *rate, float *left, float time) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    left[i] = amount[i] * EXP(-rate[i] * time);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "decay");
    int n = p.small ? 1 << 18 : 1 << 25;
    std::vector<float> amount = random_floats(n, 0, 1, 1), rate = random_floats(n, 0, 2, 2);
    float *d_amount = device_copy_of(amount.data(), n), *d_rate = device_copy_of(rate.data(), n),
          *d_left = device_array<float>(n);
    pair_time(&p, [&] { decay<<<n / BLOCK, BLOCK>>>(d_amount, d_rate, d_left, 1.5f); });
    std::vector<float> left = host_copy_of(d_left, n);
    for (int i = 0; i < n; i += 47)
        pair_near(&p, "left", i, amount[i] * exp(-rate[i] * 1.5), left[i], 1e-5);
    return pair_end(&p);
}
