// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the way from the row's start to the point between is read into a register ahead of the loop.
// Why: the row is written in the loop, and might be written over that word: the compiler loads it again in every turn.
#include "../common.h"

enum { BLOCK = 64, STRIP = 32 };

// Shortest ways by way of the point `k` (Floyd and Warshall). A thread has STRIP columns of a row, 64 apart.
__global__ void floyd(int *ways, int n, int k) {
    int row = blockIdx.y, first = blockIdx.x * BLOCK * STRIP + threadIdx.x;
    int *mine = ways + (size_t)row * n, *over = ways + (size_t)k * n;
    if (row == k)
        return;
#ifdef AFTER
    int there = mine[k];
#else
#define there mine[k]
#endif
#pragma unroll 1
    for (int i = 0; i < STRIP; i++) {
        int column = first + i * BLOCK, way = there + over[column];
        mine[column] = min(mine[column], way);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "floyd");
    int n = p.small ? 2048 : 8192, rows = p.small ? 264 : n, k = 77;
    std::vector<int> ways((size_t)rows * n);
    lcg_fill(ways.data(), ways.size(), 1, 1 << 16);
    int *d_ways = device_copy_of(ways.data(), ways.size());
    pair_time(&p, [&] { floyd<<<dim3(n / (BLOCK * STRIP), rows), BLOCK>>>(d_ways, n, k); });
    std::vector<int> out = host_copy_of(d_ways, ways.size());
    for (int r = 0; r < rows; r += 13)
        for (int c = 0; c < n; c += 3) {
            int way = ways[(size_t)r * n + k] + ways[(size_t)k * n + c], old = ways[(size_t)r * n + c];
            pair_near(&p, "way", (size_t)r * n + c, r == k ? old : std::min(old, way), out[(size_t)r * n + c], 0);
        }
    return pair_end(&p);
}
