// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block goes through four days instead of 32, and there are eight times as many blocks.
// Why: the GPU holds 1056 of these blocks; of 1150 long ones the last 94 run when all the others are done, and the
// whole takes twice as long as one wave.
#include "../common.h"

#ifdef AFTER
enum { DAYS = 4 };
#else
enum { DAYS = 32 };
#endif
enum { BLOCK = 256 };

// A gondola's day on the canals: where it drifts with each fare, drawn by a small generator; its takings in ducats.
__host__ __device__ inline int row_a_day(unsigned state, int place, int fares) {
    int takings = 0;
    for (int f = 0; f < fares; f++) {
        state = state * 1664525u + 1013904223u;
        int to = (int)((state >> 16) * 640u >> 16), way = to > place ? to - place : place - to;
        takings += 3 + (way >> 4) + (way > 400 ? 5 : 0);
        place = (place + to) >> 1;
        state ^= (unsigned)place << 9;
    }
    return takings;
}

// The takings of all gondolas over a season, from where each starts; a row of results per day.
__global__ void season(const unsigned short *starts, const unsigned *seeds, int *takings, int fares) {
    int place = starts[threadIdx.x];
    for (int d = 0; d < DAYS; d++) {
        int day = blockIdx.x * DAYS + d;
        takings[day * BLOCK + threadIdx.x] = row_a_day(seeds[day] + 7919u * threadIdx.x, place, fares);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gondolas");
    int days = p.small ? 32 : 1150 * 32, fares = p.small ? 4 : 12;
    std::vector<unsigned short> starts(BLOCK);
    std::vector<unsigned> seeds(days);
    lcg_fill(starts.data(), BLOCK, 1, 640);
    lcg_fill(seeds.data(), days, 2, 1 << 24);
    unsigned short *d_starts = device_copy_of(starts.data(), BLOCK);
    unsigned *d_seeds = device_copy_of(seeds.data(), days);
    size_t n = (size_t)days * BLOCK;
    int *d_takings = device_array<int>(n);
    pair_time(&p, [&] { season<<<days / DAYS, BLOCK>>>(d_starts, d_seeds, d_takings, fares); });
    std::vector<int> takings = host_copy_of(d_takings, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 37)
        pair_near(&p, "takings", i, row_a_day(seeds[i / BLOCK] + 7919u * (i % BLOCK), starts[i % BLOCK], fares),
                  takings[i], 0);
    return pair_end(&p);
}
