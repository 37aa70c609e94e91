// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the random generator and the draw of a duration are inlined instead of called.
// Why: each call costs jumps and keeps the generator's state in local memory, for a few instructions of work.
#include "../common.h"

enum { BLOCK = 128, TILLS = 4 };

#ifdef AFTER
#define STEP __forceinline__
#else
#define STEP __noinline__
#endif

struct Random {
    unsigned x, y, weyl;
};

struct Day {
    unsigned longest, total;  // waiting, in seconds
};

__host__ __device__ STEP unsigned next(Random *r) {
    unsigned t = r->x ^ (r->x << 11);
    r->x = r->y;
    r->y = r->y ^ (r->y >> 19) ^ t ^ (t >> 8);
    r->weyl += 362437u;
    return r->y + r->weyl;
}

// A duration in seconds around `typical`.
__host__ __device__ STEP unsigned duration(Random *r, unsigned typical) {
    unsigned a = next(r) >> 20, b = next(r) >> 20;
    return typical / 4 + (((a + b) * typical) >> 13);
}

// One day of a supermarket: each customer goes to the till that is free first.
__host__ __device__ inline Day simulate(unsigned shop, int customers) {
    Random r = {shop * 2654435761u + 1u, shop ^ 0x9e3779b9u, shop};
    unsigned free_at[TILLS] = {0, 0, 0, 0};
    unsigned now = 0;
    Day day = {0, 0};
    for (int c = 0; c < customers; c++) {
        now += duration(&r, 30);
        unsigned service = duration(&r, 117);
        int best = 0;
        unsigned earliest = free_at[0];
        for (int k = 1; k < TILLS; k++)
            if (free_at[k] < earliest) {
                earliest = free_at[k];
                best = k;
            }
        unsigned start = earliest > now ? earliest : now;
        unsigned wait = start - now;
        day.longest = wait > day.longest ? wait : day.longest;
        day.total += wait;
        for (int k = 0; k < TILLS; k++)
            free_at[k] = k == best ? start + service : free_at[k];
    }
    return day;
}

__global__ void cashiers(Day *days, int shops, int customers) {
    int shop = blockIdx.x * BLOCK + threadIdx.x;
    if (shop < shops)
        days[shop] = simulate(shop, customers);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cashiers");
    int shops = p.small ? 1000 : 250000, customers = p.small ? 20 : 300;
    Day *d_days = device_array<Day>(shops);
    pair_time(&p, [&] { cashiers<<<(shops + BLOCK - 1) / BLOCK, BLOCK>>>(d_days, shops, customers); });
    std::vector<Day> days = host_copy_of(d_days, shops);
    for (int s = 0; s < shops; s += 97) {
        Day expected = simulate(s, customers);
        pair_near(&p, "longest", s, expected.longest, days[s].longest, 0);
        pair_near(&p, "total", s, expected.total, days[s].total, 0);
    }
    return pair_end(&p);
}
