// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: persons are taken in an order in which a warp has such of one kind only.
// Why: every fourth lane works for a person that is ill, which takes many times as long as for the others.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4, STEPS = 48 };

static __host__ __device__ inline float day_of(float load, int person) {
    if (person % KINDS == 0)
        for (int s = 0; s < STEPS; s++)
            load += 0.05f * load * (1 - load) - 0.01f * load;
    else
        load *= 0.97f;
    return load;
}

// How much of a virus everybody carries a day later; persons are numbered so that every fourth is ill.
__global__ void epidemic(const float *load, float *next, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int person = i % (n / KINDS) * KINDS + i / (n / KINDS);
#else
    int person = i;
#endif
    next[person] = day_of(load[person], person);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "epidemic");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> load = random_floats(n, 0.1f, 0.9f, 1);
    float *d_load = device_copy_of(load.data(), n), *d_next = device_array<float>(n);
    pair_time(&p, [&] { epidemic<<<n / BLOCK, BLOCK>>>(d_load, d_next, n); });
    std::vector<float> next = host_copy_of(d_next, n);
    for (int i = 0; i < n; i += 113)
        pair_near(&p, "load", i, day_of(load[i], i), next[i], 1e-4);
    return pair_end(&p);
}
