// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stacks in shared memory are as deep as the tree is, not as any tree could be.
// Why: 46 KB for each CTA of 128 threads leave room for four on an SM.
#include "../common.h"

enum { BLOCK = 128, LEVELS = 9 };
#ifdef AFTER
enum { DEEPEST = LEVELS };
#else
enum { DEEPEST = 30 };
#endif

// The levels of the tree lie one after the other; a level has 4^level squares, row by row.
__host__ __device__ static inline int first_of(int level) { return ((1 << 2 * level) - 1) / 3; }

// 0: no point of the square is in the circle, 2: all are, 1: some may be.
__host__ __device__ static inline int meets(int level, int x, int y, int cx, int cy, int r) {
    int size = 1 << (LEVELS - level), x0 = x * size, y0 = y * size, x1 = x0 + size, y1 = y0 + size;
    int dx = cx < x0 ? x0 - cx : cx > x1 ? cx - x1 : 0, dy = cy < y0 ? y0 - cy : cy > y1 ? cy - y1 : 0;
    if (dx * dx + dy * dy > r * r)
        return 0;
    int fx = cx - x0 > x1 - cx ? cx - x0 : x1 - cx, fy = cy - y0 > y1 - cy ? cy - y0 : y1 - cy;
    return fx * fx + fy * fy <= r * r ? 2 : 1;
}

// How many points lie in squares that meet each query's circle.
__global__ void quadtree_range(const int *counts, const int *queries, int *out, int n) {
    __shared__ unsigned stack[3 * DEEPEST + 1][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t, top = 0, sum = 0;
    int cx = queries[i], cy = queries[n + i], r = queries[2 * n + i];
    stack[top++][t] = 0;
    while (top) {
        unsigned node = stack[--top][t];
        int level = node >> 24, x = node & 0xfff, y = node >> 12 & 0xfff, how = meets(level, x, y, cx, cy, r);
        if (!how)
            continue;
        int count = counts[first_of(level) + (y << level) + x];
        if (!count)
            continue;
        if (how == 2 || level == LEVELS) {
            sum += count;
            continue;
        }
        for (int c = 0; c < 4; c++)
            stack[top++][t] = (level + 1) << 24 | (2 * y + c / 2) << 12 | (2 * x + c % 2);
    }
    out[i] = sum;
}

static int count_in(const std::vector<int> &counts, int level, int x, int y, int cx, int cy, int r) {
    int how = meets(level, x, y, cx, cy, r), count = how ? counts[first_of(level) + (y << level) + x] : 0;
    if (!count || how == 2 || level == LEVELS)
        return count;
    int sum = 0;
    for (int c = 0; c < 4; c++)
        sum += count_in(counts, level + 1, 2 * x + c % 2, 2 * y + c / 2, cx, cy, r);
    return sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quadtree_range");
    int n = p.small ? 1 << 11 : 1 << 20, side = 1 << LEVELS;
    std::vector<int> counts(first_of(LEVELS + 1)), queries(3 * n);
    unsigned seed = 1;
    for (int k = 0; k < side * side; k++) {
        int x = lcg_next(&seed, side), y = lcg_next(&seed, side);
        for (int level = 0; level <= LEVELS; level++)
            counts[first_of(level) + (y >> (LEVELS - level) << level) + (x >> (LEVELS - level))]++;
    }
    lcg_fill(queries.data(), 2 * n, 2, side);
    for (int i = 0; i < n; i++)
        queries[2 * n + i] = 2 + lcg_next(&seed, 12);
    int *d_counts = device_copy_of(counts.data(), counts.size()), *d_queries = device_copy_of(queries.data(), queries.size()),
        *d_out = device_array<int>(n);
    pair_time(&p, [&] { quadtree_range<<<n / BLOCK, BLOCK>>>(d_counts, d_queries, d_out, n); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 97)
        pair_near(&p, "count", i, count_in(counts, 0, 0, 0, queries[i], queries[n + i], queries[2 * n + i]), out[i], 0);
    return pair_end(&p);
}
