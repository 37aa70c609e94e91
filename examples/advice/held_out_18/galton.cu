// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the remainder by 2^31 - 1 is taken by folding the product's upper bits onto the lower ones.
// Why: the generator of Park and Miller takes the remainder of a 64-bit product, a dozen instructions or more per pin.
#include "../common.h"

enum { BLOCK = 256, ROWS = 15 };

static const unsigned PRIME = 2147483647u;

__device__ unsigned random_next(unsigned r) {
    unsigned long long product = (unsigned long long)r * 48271;
#ifdef AFTER
    unsigned folded = (unsigned)(product & 2147483647u) + (unsigned)(product >> 31);
    return folded >= 2147483647u ? folded - 2147483647u : folded;
#else
    return (unsigned)(product % 2147483647u);
#endif
}

// Galton boards, one per thread, each a little askew: balls fall past rows of pins into the slots.
__global__ void drop(const unsigned *seeds, const float *askew, unsigned short *slots, int boards, int balls) {
    __shared__ unsigned short filled[ROWS + 1][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    for (int s = 0; s <= ROWS; s++)
        filled[s][t] = 0;
    unsigned r = seeds[i], to_the_right = (unsigned)(askew[i] * 2147483648.0f);
    for (int b = 0; b < balls; b++) {
        int slot = 0;
#pragma unroll 5
        for (int row = 0; row < ROWS; row++) {
            r = random_next(r);
            slot += r < to_the_right;
        }
        filled[slot][t]++;
    }
    for (int s = 0; s <= ROWS; s++)
        slots[(size_t)s * boards + i] = filled[s][t];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "galton");
    int blocks = p.small ? 1 : 1056, balls = p.small ? 3 : 80, n = blocks * BLOCK;
    std::vector<unsigned> seeds(n);
    unsigned seed = 1;
    for (unsigned &s : seeds)
        s = 1 + (unsigned)lcg_next(&seed, 1 << 30);
    std::vector<float> askew = random_floats(n, 0.4f, 0.6f, 2);
    unsigned *d_seeds = device_copy_of(seeds.data(), n);
    float *d_askew = device_copy_of(askew.data(), n);
    unsigned short *d_slots = device_array<unsigned short>((size_t)n * (ROWS + 1));
    pair_time(&p, [&] { drop<<<blocks, BLOCK>>>(d_seeds, d_askew, d_slots, n, balls); });
    std::vector<unsigned short> slots = host_copy_of(d_slots, (size_t)n * (ROWS + 1));
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        int filled[ROWS + 1] = {0};
        unsigned r = seeds[i], to_the_right = (unsigned)(askew[i] * 2147483648.0f);
        for (int b = 0; b < balls; b++) {
            int slot = 0;
            for (int row = 0; row < ROWS; row++) {
                r = (unsigned)((unsigned long long)r * 48271 % PRIME);
                slot += r < to_the_right;
            }
            filled[slot]++;
        }
        for (int s = 0; s <= ROWS; s++)
            pair_near(&p, "slot", (size_t)s * n + i, filled[s], slots[(size_t)s * n + i], 0);
    }
    return pair_end(&p);
}
