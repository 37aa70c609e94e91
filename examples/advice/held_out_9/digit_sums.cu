// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the radix is known when the program is compiled.
// Why: each digit takes a division and a remainder by a number that nobody knows.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ inline unsigned sum_of_digits(unsigned x, unsigned radix) {
    unsigned sum = 0;
    for (; x; x /= radix)
        sum += x % radix;
    return sum;
}

// Check digits of account numbers.
__global__ void digit_sums(const unsigned *numbers, unsigned *sums, unsigned radix) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    (void)radix;
    sums[i] = sum_of_digits(numbers[i], 10);
#else
    sums[i] = sum_of_digits(numbers[i], radix);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "digit_sums");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<unsigned> numbers(n);
    unsigned seed = 1;
    for (unsigned &x : numbers)
        x = (unsigned)lcg_next(&seed, 1 << 16) << 16 | (unsigned)lcg_next(&seed, 1 << 16);
    unsigned *d_numbers = device_copy_of(numbers.data(), n), *d_sums = device_array<unsigned>(n);
    pair_time(&p, [&] { digit_sums<<<n / BLOCK, BLOCK>>>(d_numbers, d_sums, 10); });
    std::vector<unsigned> sums = host_copy_of(d_sums, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "sum", i, sum_of_digits(numbers[i], 10), sums[i], 0);
    return pair_end(&p);
}
