// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: slot numbers and the yard's dimensions are 32-bit integers instead of 64-bit ones.
// Why: all numbers fit in 32 bits, and a 64-bit division takes more instructions than a 32-bit one.
#include "../common.h"

enum { BLOCK = 192 };

#ifdef AFTER
typedef int Slot;
#else
typedef long long Slot;
#endif

// A container yard: areas of bays of rows of tiers; a slot number counts tiers first.
struct Yard {
    Slot bays, rows, tiers;
    float gantry, trolley, hoist, area_change;  // seconds for one bay, row, tier, area
};

__host__ __device__ inline float crane_seconds(const Yard &yard, Slot from, Slot to) {
    Slot tier_from = from % yard.tiers, tier_to = to % yard.tiers;
    from /= yard.tiers;
    to /= yard.tiers;
    Slot row_from = from % yard.rows, row_to = to % yard.rows;
    from /= yard.rows;
    to /= yard.rows;
    Slot bay_from = from % yard.bays, bay_to = to % yard.bays;
    Slot area_from = from / yard.bays, area_to = to / yard.bays;
    float along = yard.gantry * fabsf((float)(bay_from - bay_to));
    float across = yard.trolley * fabsf((float)(row_from - row_to));
    float lift = yard.hoist * (float)(2 * yard.tiers - tier_from - tier_to);
    float change = yard.area_change * fabsf((float)(area_from - area_to));
    return fmaxf(along, across) + lift + change;
}

// How long a crane takes for each move.
__global__ void move_times(const int *from, const int *to, float *seconds, int moves, Yard yard) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < moves)
        seconds[i] = crane_seconds(yard, from[i], to[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crates");
    int moves = p.small ? 20000 : 12000000;
    Yard yard = {37, 9, 5, 3.5f, 1.25f, 4.0f, 90.0f};
    unsigned slots = 6000 * 37 * 9 * 5;
    std::vector<int> from(moves), to(moves);
    lcg_fill(from.data(), moves, 1, slots);
    lcg_fill(to.data(), moves, 2, slots);
    int *d_from = device_copy_of(from.data(), moves), *d_to = device_copy_of(to.data(), moves);
    float *d_seconds = device_array<float>(moves);
    pair_time(&p, [&] { move_times<<<(moves + BLOCK - 1) / BLOCK, BLOCK>>>(d_from, d_to, d_seconds, moves, yard); });
    std::vector<float> seconds = host_copy_of(d_seconds, moves);
    for (int i = 0; i < moves; i += 997)
        pair_near(&p, "seconds", i, crane_seconds(yard, from[i], to[i]), seconds[i], 1e-5);
    return pair_end(&p);
}
