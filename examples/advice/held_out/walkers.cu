// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1056 blocks instead of 48 share the walkers in a grid-stride loop.
// Why: 48 blocks leave 84 of an H200's 132 SMs without work, and the others with two warps to a scheduler.
#include "../common.h"

enum { BLOCK = 256, STEPS = 64 };
#ifdef AFTER
enum { BLOCKS = 1056 };
#else
enum { BLOCKS = 48 };
#endif

static __host__ __device__ int walk(unsigned seed) {
    int x = 0;
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1664525u + 1013904223u;
        x += seed >> 31 ? 1 : -1;
    }
    return x;
}

// Where random walkers end: how many of them at which distance (mod 64).
__global__ void walkers(const unsigned *seeds, int *ends, int n) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        ends[i] = walk(seeds[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "walkers");
    int n = p.small ? 1 << 18 : 1 << 23;
    std::vector<unsigned> seeds(n);
    unsigned seed = 9;
    for (unsigned &s : seeds)
        s = lcg_next(&seed, 1 << 20) * 2654435761u;
    unsigned *d_seeds = device_copy_of(seeds.data(), n);
    int *d_ends = device_array<int>(n);
    pair_time(&p, [&] { walkers<<<BLOCKS, BLOCK>>>(d_seeds, d_ends, n); });
    std::vector<int> ends = host_copy_of(d_ends, n);
    for (int i = 0; i < n; i += 31)
        pair_near(&p, "end", i, walk(seeds[i]), ends[i], 0);
    return pair_end(&p);
}
