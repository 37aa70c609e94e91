// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of digits in shared memory are 33 words apart instead of 32.
// Why: a thread carries along its own row, so that at 32 words apart all threads of a warp meet in the same bank.
#include "../common.h"

enum { RODS = 32, BLOCK = 128 };

#ifdef AFTER
enum { APART = RODS + 1 };
#else
enum { APART = RODS };
#endif

// Sums of two numbers of 32 decimal digits each, the units first; a block takes 128 sums, one thread carries for each.
// Also told: the number of carries and the sum of the digits (for casting out nines).
__global__ void add_up(const unsigned char *first, const unsigned char *second, unsigned char *sums, int *carries,
                       int *nines) {
    __shared__ int beads[BLOCK * APART];
    size_t base = (size_t)blockIdx.x * BLOCK * RODS;
    for (int k = threadIdx.x; k < BLOCK * RODS; k += BLOCK)
        beads[k / RODS * APART + k % RODS] = first[base + k] + second[base + k];
    __syncthreads();
    int *row = beads + threadIdx.x * APART;
    int carry = 0, count = 0, digits = 0;
    for (int r = 0; r < RODS; r++) {
        int value = row[r] + carry;
        carry = value >= 10;
        value -= carry ? 10 : 0;
        count += carry;
        digits += value;
        row[r] = value;
    }
    carries[blockIdx.x * BLOCK + threadIdx.x] = count;
    nines[blockIdx.x * BLOCK + threadIdx.x] = digits % 9;
    __syncthreads();
    for (int k = threadIdx.x; k < BLOCK * RODS; k += BLOCK)
        sums[base + k] = (unsigned char)beads[k / RODS * APART + k % RODS];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "abacuses");
    int blocks = p.small ? 12 : 132 * 60, n = blocks * BLOCK;
    std::vector<unsigned char> first((size_t)n * RODS), second((size_t)n * RODS);
    lcg_fill(first.data(), first.size(), 1, 10);
    lcg_fill(second.data(), second.size(), 2, 10);
    unsigned char *d_first = device_copy_of(first.data(), first.size()),
                  *d_second = device_copy_of(second.data(), second.size()),
                  *d_sums = device_array<unsigned char>(first.size());
    int *d_carries = device_array<int>(n), *d_nines = device_array<int>(n);
    pair_time(&p, [&] { add_up<<<blocks, BLOCK>>>(d_first, d_second, d_sums, d_carries, d_nines); });
    std::vector<unsigned char> sums = host_copy_of(d_sums, first.size());
    std::vector<int> carries = host_copy_of(d_carries, n), nines = host_copy_of(d_nines, n);
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        int carry = 0, count = 0, digits = 0;
        for (int r = 0; r < RODS; r++) {
            size_t at = (size_t)i * RODS + r;
            int value = first[at] + second[at] + carry;
            carry = value / 10;
            count += carry;
            digits += value % 10;
            pair_near(&p, "sum", at, value % 10, sums[at], 1e-9);
        }
        pair_near(&p, "carries", i, count, carries[i], 1e-9);
        pair_near(&p, "nines", i, digits % 9, nines[i], 1e-9);
    }
    return pair_end(&p);
}
