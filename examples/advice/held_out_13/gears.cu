// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: all trailing zeros are shifted out at once, and minimum and difference replace the three-way branch.
// Why: lanes take each of the branches in turn, and most of an iteration is waiting for other lanes.
#include "../common.h"

enum { BLOCK = 128 };

// Greatest common divisor (binary algorithm) of two positive numbers, the first of them odd.
static __device__ inline unsigned common_divisor(unsigned a, unsigned b) {
#ifdef AFTER
    while (b != 0) {
        b >>= __ffs(b) - 1;
        unsigned least = min(a, b);
        b = max(a, b) - least;
        a = least;
    }
#else
    while (b != 0) {
        if (b % 2 == 0) {
            b /= 2;
        } else if (a > b) {
            unsigned old = a;
            a = b;
            b = old - b;
        } else {
            b -= a;
        }
    }
#endif
    return a;
}

// After how many turns of the first wheel the same teeth of a pair of gears meet again.
__global__ void gears(const uint2 *teeth, unsigned *turns) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    uint2 pair = teeth[i];
    int twos = __ffs(pair.x | pair.y) - 1, odd = __ffs(pair.x) - 1;
    turns[i] = pair.y / (common_divisor(pair.x >> odd, pair.y >> twos) << twos);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gears");
    int n = p.small ? 1 << 11 : 1 << 21, largest = p.small ? 200 : 1 << 20;
    std::vector<unsigned> numbers(2 * n);
    lcg_fill(numbers.data(), numbers.size(), 1, largest);
    for (unsigned &number : numbers)
        number++;
    uint2 *d_teeth = (uint2 *)device_copy_of(numbers.data(), numbers.size());
    unsigned *d_turns = device_array<unsigned>(n);
    pair_time(&p, [&] { gears<<<n / BLOCK, BLOCK>>>(d_teeth, d_turns); });
    std::vector<unsigned> turns = host_copy_of(d_turns, n);
    for (int i = 0; i < n; i += 53) {
        unsigned a = numbers[2 * i], b = numbers[2 * i + 1];
        while (b != 0) {
            unsigned rest = a % b;
            a = b;
            b = rest;
        }
        pair_near(&p, "turns", i, numbers[2 * i + 1] / a, turns[i], 0);
    }
    return pair_end(&p);
}
