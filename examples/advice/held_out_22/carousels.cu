// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place on the belt is moved on by an addition and wrapped by a subtraction, instead of a multiplication
// and a remainder.
// Why: the length of the belt is known only at run time, so that a remainder is a division of some twenty instructions.
#include "../common.h"

enum { BLOCK = 256, MOST = 1024 };

// What a traveller sees who waits at a baggage carousel: the weight that comes past, and the heaviest bag of all.
__global__ void watch(const unsigned short *bags, const unsigned *places, const unsigned *speeds, uint2 *seen,
                      unsigned belt, int steps, int count) {
    __shared__ unsigned short weights[MOST];
    for (unsigned k = threadIdx.x; k < belt; k += BLOCK)
        weights[k] = bags[k];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    unsigned start = places[i], speed = speeds[i], total = 0, heaviest = 0;
#ifdef AFTER
    unsigned place = start;
#endif
    for (int t = 0; t < steps; t++) {
#ifndef AFTER
        unsigned place = (start + t * speed) % belt;
#endif
        unsigned weight = weights[place];
        total += weight;
        heaviest = weight > heaviest ? weight : heaviest;
#ifdef AFTER
        place += speed;
        if (place >= belt)
            place -= belt;
#endif
    }
    seen[i] = make_uint2(total, heaviest);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "carousels");
    int n = p.small ? 4096 : 132 * 2048 * 2, steps = p.small ? 20 : 90;
    unsigned belt = 907;
    std::vector<unsigned short> bags(belt);
    std::vector<unsigned> places(n), speeds(n);
    lcg_fill(bags.data(), belt, 1, 32000);
    lcg_fill(places.data(), n, 2, belt);
    lcg_fill(speeds.data(), n, 3, 40);
    unsigned short *d_bags = device_copy_of(bags.data(), belt);
    unsigned *d_places = device_copy_of(places.data(), n), *d_speeds = device_copy_of(speeds.data(), n);
    uint2 *d_seen = device_array<uint2>(n);
    pair_time(&p, [&] { watch<<<n / BLOCK, BLOCK>>>(d_bags, d_places, d_speeds, d_seen, belt, steps, n); });
    std::vector<uint2> seen = host_copy_of(d_seen, n);
    for (int i = 0; i < n; i += p.small ? 1 : 19) {
        unsigned total = 0, heaviest = 0;
        for (int t = 0; t < steps; t++) {
            unsigned weight = bags[(places[i] + t * speeds[i]) % belt];
            total += weight;
            heaviest = std::max(heaviest, weight);
        }
        pair_near(&p, "total", i, total, seen[i].x, 0);
        pair_near(&p, "heaviest", i, heaviest, seen[i].y, 0);
    }
    return pair_end(&p);
}
