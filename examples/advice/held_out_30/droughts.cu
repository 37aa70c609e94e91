// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the rain of a day, in tenths of a millimetre, is stored in 16 bits instead of 32.
// Why: no day has more than 3000 tenths, so half of the bytes that are read are zero.
#include "../common.h"

enum { BLOCK = 256, DAYS = 61, DRY = 10 };

#ifdef AFTER
typedef unsigned short Rain;
#else
typedef unsigned Rain;
#endif

struct Summer {
    unsigned rain;            // tenths of a millimetre in all
    unsigned short longest;   // dry days in a row
    unsigned short dry_days;  // in all
};

// What each cell of the map had of rain; the map has one layer a day.
__global__ void droughts(const Rain *__restrict__ rain, Summer *__restrict__ summers, int cells) {
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= cells)
        return;
    unsigned sum = 0, longest = 0, run = 0, dry_days = 0;
#pragma unroll 8
    for (int day = 0; day < DAYS; day++) {
        unsigned today = rain[(size_t)day * cells + cell];
        sum += today;
        bool dry = today < DRY;
        dry_days += dry;
        run = dry ? run + 1 : 0;
        longest = max(longest, run);
    }
    summers[cell] = {sum, (unsigned short)longest, (unsigned short)dry_days};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "droughts");
    int cells = p.small ? 5000 : 720 * 1100;
    std::vector<Rain> rain((size_t)DAYS * cells);
    unsigned seed = 8;
    for (Rain &r : rain) {
        unsigned x = lcg_next(&seed, 1 << 12);
        r = (Rain)(x < 2900 ? x % 8 : x % 300);
    }
    Rain *d_rain = device_copy_of(rain.data(), rain.size());
    Summer *d_summers = device_array<Summer>(cells);
    pair_time(&p, [&] { droughts<<<(cells + BLOCK - 1) / BLOCK, BLOCK>>>(d_rain, d_summers, cells); });
    std::vector<Summer> summers = host_copy_of(d_summers, cells);
    for (int c = 0; c < cells; c += 37) {
        unsigned sum = 0, longest = 0, run = 0, dry_days = 0;
        for (int day = 0; day < DAYS; day++) {
            unsigned today = rain[(size_t)day * cells + c];
            sum += today;
            dry_days += today < DRY;
            run = today < DRY ? run + 1 : 0;
            longest = std::max(longest, run);
        }
        pair_near(&p, "rain", c, sum, summers[c].rain, 0);
        pair_near(&p, "longest", c, longest, summers[c].longest, 0);
        pair_near(&p, "dry days", c, dry_days, summers[c].dry_days, 0);
    }
    return pair_end(&p);
}
