// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: a block has eight warps, each with a trip of its own, instead of one.
// Why: a multiprocessor holds 32 blocks at most: with one warp in each half of its places stay empty.
#include "../common.h"

#ifdef AFTER
enum { WARPS = 8 };
#else
enum { WARPS = 1 };
#endif
enum { STOPS = 64 };

struct Trip {
    float fullest;       // people on board at the worst place
    int where;           // behind which stop
    float person_stops;  // on board, summed over the stops
};

// How full each tram was: one warp per trip, two stops per lane.
__global__ void loads(const uchar2 *on, const uchar2 *off, const float *weights, Trip *trips, int count) {
    int trip = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (trip >= count)
        return;
    uchar2 in = on[(size_t)trip * (STOPS / 2) + lane], out = off[(size_t)trip * (STOPS / 2) + lane];
    float first = (float)in.x - out.x, second = (float)in.y - out.y, before = first + second;
    for (int gap = 1; gap < 32; gap *= 2) {
        float below = __shfl_up_sync(~0u, before, gap);
        if (lane >= gap)
            before += below;
    }
    float after_second = before, after_first = before - second;
    float most = fmaxf(after_first, after_second), sum = after_first + after_second;
    int place = 2 * lane + (after_second > after_first);
    for (int gap = 16; gap; gap /= 2) {
        float other = __shfl_xor_sync(~0u, most, gap);
        int other_place = __shfl_xor_sync(~0u, place, gap);
        if (other > most || (other == most && other_place < place)) {
            most = other;
            place = other_place;
        }
        sum += __shfl_xor_sync(~0u, sum, gap);
    }
    if (lane == 0) {
        float weight = weights[trip];
        trips[trip] = {weight * most, place, weight * sum};
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tram_loads");
    int n = p.small ? 1000 : 1 << 20;
    std::vector<unsigned char> on((size_t)n * STOPS), off((size_t)n * STOPS);
    lcg_fill(on.data(), on.size(), 1, 12);
    lcg_fill(off.data(), off.size(), 2, 11);
    std::vector<float> weights = random_floats(n, 0.9f, 1.2f, 3);
    uchar2 *d_on = (uchar2 *)device_copy_of(on.data(), on.size()),
           *d_off = (uchar2 *)device_copy_of(off.data(), off.size());
    float *d_weights = device_copy_of(weights.data(), n);
    Trip *d_trips = device_array<Trip>(n);
    pair_time(&p, [&] { loads<<<(n + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_on, d_off, d_weights, d_trips, n); });
    std::vector<Trip> trips = host_copy_of(d_trips, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        int load = 0, most = -100000, where = 0, sum = 0;
        for (int s = 0; s < STOPS; s++) {
            load += on[(size_t)i * STOPS + s] - off[(size_t)i * STOPS + s];
            sum += load;
            if (load > most) {
                most = load;
                where = s;
            }
        }
        pair_near(&p, "fullest", i, (double)weights[i] * most, trips[i].fullest, 1e-5);
        pair_near(&p, "where", i, where, trips[i].where, 0);
        pair_near(&p, "person stops", i, (double)weights[i] * sum, trips[i].person_stops, 1e-5);
    }
    return pair_end(&p);
}
