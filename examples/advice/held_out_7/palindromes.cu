// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the base is a parameter of the template, no longer an argument.
// Why: each digit costs a division by a number that the compiler does not know.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ bool is_palindrome(unsigned x, unsigned base) {
    unsigned turned = 0;
    for (unsigned rest = x; rest; rest /= base)
        turned = turned * base + rest % base;
    return turned == x;
}

// Which numbers read the same in both directions, in some base.
#ifdef AFTER
template <unsigned base> __global__ void palindromes(unsigned char *found) {
#else
__global__ void palindromes(unsigned char *found, unsigned base) {
#endif
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    found[i] = is_palindrome(i, base);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "palindromes");
    int n = p.small ? 1 << 15 : 1 << 24;
    unsigned char *d_found = device_array<unsigned char>(n);
#ifdef AFTER
    pair_time(&p, [&] { palindromes<10><<<n / BLOCK, BLOCK>>>(d_found); });
#else
    pair_time(&p, [&] { palindromes<<<n / BLOCK, BLOCK>>>(d_found, 10); });
#endif
    std::vector<unsigned char> found = host_copy_of(d_found, n);
    for (int i = 0; i < n; i += 11)
        pair_near(&p, "found", i, is_palindrome(i, 10), found[i], 0);
    return pair_end(&p);
}
