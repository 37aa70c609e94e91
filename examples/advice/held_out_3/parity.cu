// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the disks is unrolled eight times.
// Why: a thread has one load under way at a time.
#include "../common.h"

enum { BLOCK = 256 };

__global__ void parity(const unsigned *blocks, unsigned *out, int words, int disks) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned sum = 0;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int d = 0; d < disks; d++)
        sum ^= blocks[(size_t)d * words + i];
    out[i] = sum;
}

// Parity words of a stripe over many disks.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parity");
    int words = p.small ? 1 << 14 : 1 << 17, disks = p.small ? 24 : 96;
    std::vector<unsigned> blocks((size_t)words * disks);
    lcg_fill(blocks.data(), blocks.size(), 1, 1u << 30);
    unsigned *d_blocks = device_copy_of(blocks.data(), blocks.size()), *d_out = device_array<unsigned>(words);
    pair_time(&p, [&] { parity<<<words / BLOCK, BLOCK>>>(d_blocks, d_out, words, disks); });
    std::vector<unsigned> out = host_copy_of(d_out, words);
    for (int i = 0; i < words; i++) {
        unsigned sum = 0;
        for (int d = 0; d < disks; d++)
            sum ^= blocks[(size_t)d * words + i];
        pair_near(&p, "out", i, sum, out[i], 0);
    }
    return pair_end(&p);
}
