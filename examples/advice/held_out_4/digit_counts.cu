// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a thread's counters lie a block's width apart (digit, thread) instead of side by side (thread, digit).
// Why: counters of neighbouring lanes are sixteen words apart, in two banks.
#include "../common.h"

enum { BLOCK = 128, DIGITS = 16, PER_THREAD = 64 };

#ifdef AFTER
#define COUNTER(digit, thread) ((digit)*BLOCK + (thread))
#else
#define COUNTER(digit, thread) ((thread)*DIGITS + (digit))
#endif

// First pass of a radix sort: how often each digit of four bits occurs in a block's keys, in counters of each thread's
// own.
__global__ void digit_counts(const unsigned *keys, unsigned *counts, int shift) {
    __shared__ unsigned own[BLOCK * DIGITS];
    for (int d = 0; d < DIGITS; d++)
        own[COUNTER(d, threadIdx.x)] = 0;
    const unsigned *mine = keys + (size_t)blockIdx.x * BLOCK * PER_THREAD;
    for (int k = 0; k < PER_THREAD; k++)
        own[COUNTER(mine[k * BLOCK + threadIdx.x] >> shift & 15, threadIdx.x)]++;
    __syncthreads();
    int digit = threadIdx.x / (BLOCK / DIGITS), part = threadIdx.x % (BLOCK / DIGITS);
    unsigned sum = 0;
    for (int t = part; t < BLOCK; t += BLOCK / DIGITS)
        sum += own[COUNTER(digit, t)];
    for (int d = BLOCK / DIGITS / 2; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (part == 0)
        counts[digit * gridDim.x + blockIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "digit_counts");
    int blocks = p.small ? 32 : 4096, shift = 8;
    size_t n = (size_t)blocks * BLOCK * PER_THREAD;
    std::vector<unsigned> keys(n);
    lcg_fill(keys.data(), n, 1, 1 << 20);
    unsigned *d_keys = device_copy_of(keys.data(), n), *d_counts = device_array<unsigned>(DIGITS * blocks);
    pair_time(&p, [&] { digit_counts<<<blocks, BLOCK>>>(d_keys, d_counts, shift); });
    std::vector<unsigned> counts = host_copy_of(d_counts, DIGITS * blocks);
    for (int b = 0; b < blocks; b += 7) {
        unsigned expected[DIGITS] = {0};
        for (int i = 0; i < BLOCK * PER_THREAD; i++)
            expected[keys[(size_t)b * BLOCK * PER_THREAD + i] >> shift & 15]++;
        for (int d = 0; d < DIGITS; d++)
            pair_near(&p, "count", d * blocks + b, expected[d], counts[d * blocks + b], 0);
    }
    return pair_end(&p);
}
