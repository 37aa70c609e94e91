// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the table of each hiker is one word longer in shared memory (41 words apart in place of 40).
// Why: tables 40 words apart put a cell of 32 hikers into four banks, eight hikers in each.
#include "../common.h"

enum { BLOCK = 128, WEIGHTS = 40, THINGS = 20 };
#ifdef AFTER
enum { APART = WEIGHTS + 1 };
#else
enum { APART = WEIGHTS };
#endif

struct Kit {
    int weight[THINGS];  // in half kilograms
};

// What to take along: the best total worth that each hiker can carry (0/1 knapsack). Things weigh the same for all,
// but are worth something else to everybody, and hikers carry different weights.
__global__ void pack(const unsigned char *worth, const unsigned char *limit, int *best, int hikers, Kit kit) {
    __shared__ int table[BLOCK * APART];
    int hiker = blockIdx.x * BLOCK + threadIdx.x;
    if (hiker >= hikers)
        return;
    int *total = &table[threadIdx.x * APART];
    for (int w = 0; w < WEIGHTS; w++)
        total[w] = 0;
    for (int t = 0; t < THINGS; t++) {
        int gain = worth[(size_t)t * hikers + hiker], weight = kit.weight[t];
        for (int w = WEIGHTS - 1; w >= weight; w--)
            total[w] = max(total[w], total[w - weight] + gain);
    }
    best[hiker] = total[limit[hiker]];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "backpacks");
    int hikers = p.small ? 300 : 335000;
    std::vector<unsigned char> worth((size_t)hikers * THINGS), limit(hikers);
    lcg_fill(worth.data(), worth.size(), 1, 100);
    unsigned seed = 2;
    for (unsigned char &l : limit)
        l = (unsigned char)(15 + lcg_next(&seed, WEIGHTS - 15));
    Kit kit;
    for (int t = 0; t < THINGS; t++)
        kit.weight[t] = 1 + t * 5 % 9;
    unsigned char *d_worth = device_copy_of(worth.data(), worth.size()),
                  *d_limit = device_copy_of(limit.data(), hikers);
    int *d_best = device_array<int>(hikers);
    pair_time(&p, [&] { pack<<<(hikers + BLOCK - 1) / BLOCK, BLOCK>>>(d_worth, d_limit, d_best, hikers, kit); });
    std::vector<int> best = host_copy_of(d_best, hikers);
    for (int h = 0; h < hikers; h += p.small ? 3 : 499) {
        int total[WEIGHTS] = {0};
        for (int t = 0; t < THINGS; t++)
            for (int w = WEIGHTS - 1; w >= kit.weight[t]; w--)
                total[w] = std::max(total[w], total[w - kit.weight[t]] + worth[(size_t)t * hikers + h]);
        pair_near(&p, "best", h, total[limit[h]], best[h], 0);
    }
    return pair_end(&p);
}
