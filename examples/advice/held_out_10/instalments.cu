// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the number of instalments of a loan is a constant of the code.
// Why: which loan and which month a thread works on takes a division of 32 bits by a number that is known at run time
// only.
#include "../common.h"

enum { BLOCK = 256, TERMS = 360 };

static __host__ __device__ inline unsigned due(unsigned amount, unsigned month, unsigned terms) {
    unsigned left = amount - amount / terms * month;
    return amount / terms + left / 1200;
}

// What is due in each month of each loan, in cents.
__global__ void instalments(const unsigned *amounts, unsigned *out, unsigned terms) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    (void)terms;
    out[i] = due(amounts[i / TERMS], i % TERMS, TERMS);
#else
    out[i] = due(amounts[i / terms], i % terms, terms);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "instalments");
    int loans = p.small ? 256 : 1 << 16, n = loans * TERMS;
    std::vector<unsigned> amounts(loans);
    unsigned seed = 1;
    for (unsigned &a : amounts)
        a = 100000 + (unsigned)lcg_next(&seed, 1 << 24);
    unsigned *d_amounts = device_copy_of(amounts.data(), loans), *d_out = device_array<unsigned>(n);
    pair_time(&p, [&] { instalments<<<n / BLOCK, BLOCK>>>(d_amounts, d_out, TERMS); });
    std::vector<unsigned> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "due", i, due(amounts[i / TERMS], i % TERMS, TERMS), out[i], 0);
    return pair_end(&p);
}
