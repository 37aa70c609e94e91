// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-split
// Change: the loop over columns stays a loop.
// Why: unrolled altogether its code is larger than the instruction caches.
// Post: Improving GPU Performance by Reducing Instruction Cache Misses
#include "../common.h"

enum { BLOCK = 128, ROWS = 24, COLUMNS = 160 };

// Scores of a local alignment of a thread's own two strings, 24 rows in registers.
__global__ void align(const unsigned char *a, const unsigned char *b, int *best, int n) {
    int t = blockIdx.x * BLOCK + threadIdx.x, score[ROWS], most = 0;
    unsigned char row[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        row[i] = a[(size_t)i * n + t];
        score[i] = 0;
    }
#ifdef AFTER
#pragma unroll 1
#else
#pragma unroll
#endif
    for (int j = 0; j < COLUMNS; j++) {
        unsigned char letter = b[(size_t)j * n + t];
        int corner = 0, above = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            int now = max(max(corner + (row[i] == letter ? 3 : -2), 0), max(above, score[i]) - 2);
            corner = score[i];
            score[i] = above = now;
            most = max(most, now);
        }
    }
    best[t] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "loop_of_cells");
    int n = p.small ? 1 << 12 : 1 << 19;
    std::vector<unsigned char> a((size_t)n * ROWS), b((size_t)n * COLUMNS);
    lcg_fill(a.data(), a.size(), 1, 4);
    lcg_fill(b.data(), b.size(), 2, 4);
    unsigned char *d_a = device_copy_of(a.data(), a.size()), *d_b = device_copy_of(b.data(), b.size());
    int *d_best = device_array<int>(n);
    pair_time(&p, [&] { align<<<n / BLOCK, BLOCK>>>(d_a, d_b, d_best, n); });
    std::vector<int> best = host_copy_of(d_best, n);
    for (int t = 0; t < n; t += 10007) {
        int score[ROWS] = {0}, most = 0;
        for (int j = 0; j < COLUMNS; j++) {
            int corner = 0, above = 0;
            for (int i = 0; i < ROWS; i++) {
                int same = a[(size_t)i * n + t] == b[(size_t)j * n + t] ? 3 : -2;
                int now = std::max(std::max(corner + same, 0), std::max(above, score[i]) - 2);
                corner = score[i];
                score[i] = above = now;
                most = std::max(most, now);
            }
        }
        pair_near(&p, "best", t, most, best[t], 0);
    }
    return pair_end(&p);
}
