// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: numbers are dealt to the blocks in turn instead of in runs of neighbours.
// Why: there is a block for each SM, and the larger its numbers are, the more divisors it has to try.
#include "../common.h"

enum { BLOCK = 512 };

// The sum of all divisors of each number except itself; two numbers that are each other's sum are amicable.
__global__ void divisor_sums(unsigned *sums, int turns) {
    for (int turn = 0; turn < turns; turn++) {
#ifdef AFTER
        unsigned n = (turn * gridDim.x + blockIdx.x) * BLOCK + threadIdx.x, sum = 1;
#else
        unsigned n = (blockIdx.x * turns + turn) * BLOCK + threadIdx.x, sum = 1;
#endif
        for (unsigned d = 2; d * d <= n; d++) {
            unsigned quotient = n / d;
            if (quotient * d == n)
                sum += quotient == d ? d : d + quotient;
        }
        sums[n] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "amicable");
    int blocks = p.small ? 12 : 132, turns = p.small ? 2 : 10, n = blocks * turns * BLOCK;
    unsigned *d_sums = device_array<unsigned>(n);
    pair_time(&p, [&] { divisor_sums<<<blocks, BLOCK>>>(d_sums, turns); });
    std::vector<unsigned> sums = host_copy_of(d_sums, n), expected(n, 1);
    for (int d = 2; d < n; d++)
        for (int k = 2 * d; k < n; k += d)
            expected[k] += d;
    for (int i = 2; i < n; i++)
        pair_near(&p, "sum", i, expected[i], sums[i], 0);
    return pair_end(&p);
}
