// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: CTAs of 256 threads instead of 32.
// Why: an SM holds 32 CTAs, which are but 32 of 64 warps if each has but one.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

static __host__ __device__ int steps_of(unsigned long long x) {
    int steps = 0;
    while (x != 1) {
        x = x & 1 ? (3 * x + 1) / 2 : x / 2;
        steps++;
    }
    return steps;
}

// How many steps each number takes to 1.
__global__ void collatz(short *steps) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    steps[i] = steps_of(i + 1);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "collatz");
    int n = p.small ? 1 << 14 : 1 << 22;
    short *d_steps = device_array<short>(n);
    pair_time(&p, [&] { collatz<<<n / BLOCK, BLOCK>>>(d_steps); });
    std::vector<short> steps = host_copy_of(d_steps, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "steps", i, steps_of(i + 1), steps[i], 0);
    return pair_end(&p);
}
