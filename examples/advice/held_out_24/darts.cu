// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the random number generator is inlined where a dart is thrown.
// Why: it is a handful of instructions called four times a dart, and its state has to lie in memory for the call.
#include "../common.h"

#ifdef AFTER
#define RANDOM_CALL __forceinline__
#else
#define RANDOM_CALL __noinline__
#endif

struct Random {
    unsigned x, y, z, w;

    // xorshift128
    __host__ __device__ RANDOM_CALL unsigned next() {
        unsigned t = x ^ (x << 11);
        x = y;
        y = z;
        z = w;
        w ^= (w >> 19) ^ t ^ (t >> 8);
        return w;
    }
};

__host__ __device__ inline Random random_for(unsigned player) {
    Random r = {player * 2654435761u + 1, player ^ 362436069u, 521288629u - player, 88675123u};
    return r;
}

// Points of a dart at (x, y) millimetres from the middle: the usual rings, on a board of eight sectors.
__host__ __device__ inline int points_at(int x, int y) {
    int far = x * x + y * y, ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
    if (far <= 6 * 6)
        return 50;
    if (far <= 16 * 16)
        return 25;
    if (far > 170 * 170)
        return 0;
    int sector = (x < 0) * 4 + (y < 0) * 2 + (ax < ay), base = 1 + (sector * 7 + 3) % 20;
    return base * (far >= 162 * 162 ? 2 : far >= 99 * 99 && far <= 107 * 107 ? 3 : 1);
}

struct Leg {
    int darts, left;
};

// A leg: darts until `start` points are down to zero or less, with an aim that is better or worse. Sums of two
// random numbers are thrown, which miss by little more often than by much.
__host__ __device__ inline Leg play_leg(Random r, unsigned spread, int start, int most_darts) {
    Leg leg = {0, start};
    while (leg.left > 0 && leg.darts < most_darts) {
        unsigned right = (r.next() & 1023) + (r.next() & 1023), up = (r.next() & 1023) + (r.next() & 1023);
        int x = (int)(right * spread >> 10) - (int)spread, y = 40 + (int)(up * spread >> 10) - (int)spread;
        leg.left -= points_at(x, y);
        leg.darts++;
    }
    return leg;
}

__global__ void __launch_bounds__(256) play(const unsigned short *spreads, Leg *legs, int players, int start,
                                            int most_darts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < players)
        legs[i] = play_leg(random_for(i), spreads[i], start, most_darts);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "darts");
    int players = p.small ? 512 : 132 * 4096, start = p.small ? 60 : 501, most_darts = p.small ? 12 : 90;
    std::vector<unsigned short> spreads(players);
    unsigned seed = 5;
    for (unsigned short &spread : spreads)
        spread = 40 + lcg_next(&seed, 160);
    unsigned short *d_spreads = device_copy_of(spreads.data(), players);
    Leg *d_legs = device_array<Leg>(players);
    pair_time(&p, [&] { play<<<(players + 255) / 256, 256>>>(d_spreads, d_legs, players, start, most_darts); });
    std::vector<Leg> legs = host_copy_of(d_legs, players);
    for (int i = 0; i < players; i += p.small ? 1 : 29) {
        Leg want = play_leg(random_for(i), spreads[i], start, most_darts);
        pair_near(&p, "darts", i, want.darts, legs[i].darts, 0);
        pair_near(&p, "left", i, want.left, legs[i].left, 0);
    }
    return pair_end(&p);
}
