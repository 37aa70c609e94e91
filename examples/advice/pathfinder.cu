// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next row's cost is loaded before the barrier that ends the current row, not after it where it is used.
// Why: the load's latency then passes during the barrier and the current row; no compiler moves a load over a barrier.
#include "common.h"

enum { BLOCK = 256, HALO = 20, INNER = BLOCK - 2 * HALO };

// Cheapest path downwards through a grid of costs (Rodinia's pathfinder): HALO rows per launch, with a halo per block.
__global__ void pathfinder(const int *cost, const int *from, int *to, int width, int rows) {
    __shared__ int best[2][BLOCK];
    int tx = threadIdx.x, x = blockIdx.x * INNER + tx - HALO, column = min(max(x, 0), width - 1);
    best[0][tx] = from[column];
    __syncthreads();
#ifdef AFTER
    int next = cost[column];
#endif
    for (int row = 0; row < rows; row++) {
#ifdef AFTER
        int own = next;
        if (row + 1 < rows)
            next = cost[(size_t)(row + 1) * width + column];
#else
        int own = cost[(size_t)row * width + column];
#endif
        const int *above = best[row % 2];
        int left = above[max(tx - 1, 0)], right = above[min(tx + 1, BLOCK - 1)];
        best[1 - row % 2][tx] = min(above[tx], min(left, right)) + own;
        __syncthreads();
    }
    if (tx >= HALO && tx < BLOCK - HALO && x < width)
        to[x] = best[rows % 2][tx];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pathfinder");
    int width = p.small ? 132 * 8 * INNER : 132 * 64 * INNER, rows = HALO;
    std::vector<int> cost((size_t)width * rows), from(width);
    lcg_fill(cost.data(), cost.size(), 1, 10);
    lcg_fill(from.data(), width, 2, 10);
    int *d_cost = device_copy_of(cost.data(), cost.size()), *d_from = device_copy_of(from.data(), width),
        *d_to = device_array<int>(width);
    pair_time(&p, [&] { pathfinder<<<width / INNER, BLOCK>>>(d_cost, d_from, d_to, width, rows); });
    std::vector<int> to = host_copy_of(d_to, width), now = from, next(width);
    for (int row = 0; row < rows; row++, now.swap(next))
        for (int x = 0; x < width; x++)
            next[x] = std::min(now[x], std::min(now[std::max(x - 1, 0)], now[std::min(x + 1, width - 1)])) +
                      cost[(size_t)row * width + x];
    for (int x = 0; x < width; x++)
        pair_near(&p, "to", x, now[x], to[x], 0);
    return pair_end(&p);
}
