// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a block, of which each SM has one, takes every so-many-th verse instead of a run of consecutive ones.
// Why: a later verse has more earlier ones to compare with: the last SM had twice the mean work, the first had none.
#include "../common.h"

enum { BLOCK = 1024, WARPS = BLOCK / 32 };

typedef unsigned long long Sketch;  // 64 bits; similar verses differ in few of them

// For each verse of a long poem the earlier verse most like it: how many bits differ (above) and which one it is
// (below, 20 bits). Each warp of a block takes another one of the block's verses.
__global__ void __launch_bounds__(BLOCK, 1) echoes(const Sketch *__restrict__ sketches, unsigned *echo, int verses) {
    int blocks = gridDim.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#ifdef AFTER
    int first = blockIdx.x, step = blocks, end = verses;
#else
    int each = (verses + blocks - 1) / blocks;
    int first = blockIdx.x * each, step = 1, end = min(verses, first + each);
#endif
    for (int v = first + warp * step; v < end; v += WARPS * step) {
        Sketch mine = sketches[v];
        unsigned nearest = ~0u;
        for (int e = lane; e < v; e += 32) {
            unsigned differing = __popcll(mine ^ sketches[e]);
            nearest = min(nearest, differing << 20 | e);
        }
        for (int d = 16; d > 0; d /= 2)
            nearest = min(nearest, __shfl_xor_sync(~0u, nearest, d));
        if (lane == 0)
            echo[v] = nearest;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "verses");
    int blocks = p.small ? 4 : 132, verses = blocks * WARPS * (p.small ? 3 : 7);
    unsigned seed = 77;
    std::vector<Sketch> sketches(verses);
    for (int v = 0; v < verses; v++) {
        sketches[v] = 0;
        for (int part = 0; part < 4; part++)
            sketches[v] = sketches[v] << 16 | lcg_next(&seed, 1 << 16);
        if (v > 10 && lcg_next(&seed, 3) == 0) {  // an earlier verse with some changes
            sketches[v] = sketches[lcg_next(&seed, v)];
            for (int change = 0; change < 5; change++)
                sketches[v] ^= 1ull << lcg_next(&seed, 64);
        }
    }
    Sketch *d_sketches = device_copy_of(sketches.data(), verses);
    unsigned *d_echo = device_array<unsigned>(verses);
    pair_time(&p, [&] { echoes<<<blocks, BLOCK>>>(d_sketches, d_echo, verses); });
    std::vector<unsigned> echo = host_copy_of(d_echo, verses);
    for (int v = 0; v < verses; v += p.small ? 1 : 43) {
        unsigned nearest = ~0u;
        for (int e = 0; e < v; e++) {
            unsigned differing = __builtin_popcountll(sketches[v] ^ sketches[e]);
            nearest = std::min(nearest, differing << 20 | e);
        }
        pair_near(&p, "echo", v, nearest, echo[v], 0);
    }
    return pair_end(&p);
}
