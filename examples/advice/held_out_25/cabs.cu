// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the lists of the threads are interleaved in shared memory instead of lying one after the other.
// Why: the lists are 16 words long, so that the same place in the lists of a warp's threads is in two banks only.
#include "../common.h"

enum { BLOCK = 128, NEAREST = 16 };

struct Taxi {
    float x, y;
    int seats;
};

// Where a thread has the taxi of some rank.
static __device__ int place(int rank) {
#ifdef AFTER
    return rank * BLOCK + threadIdx.x;
#else
    return threadIdx.x * NEAREST + rank;
#endif
}

// How long each passenger waits, from the distances of the nearest taxis of the zone that are large enough.
__global__ void __launch_bounds__(BLOCK) waiting(const Taxi *taxis, const int *first_of_zone, const float2 *passengers,
                                                 const int *parties, float *waits, int count, int per_zone) {
    __shared__ float nearest[BLOCK * NEAREST];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float2 at = passengers[i];
    int zone = i / per_zone, party = parties[i], have = 0;
    float farthest = 1e30f;
    for (int t = first_of_zone[zone]; t < first_of_zone[zone + 1]; t++) {
        Taxi taxi = taxis[t];
        float dx = taxi.x - at.x, dy = taxi.y - at.y, away = dx * dx + dy * dy;
        if (taxi.seats < party || away >= farthest)
            continue;
        int rank = have < NEAREST ? have++ : NEAREST - 1;
        for (; rank > 0; rank--) {  // make room in the sorted list
            float before = nearest[place(rank - 1)];
            if (before <= away)
                break;
            nearest[place(rank)] = before;
        }
        nearest[place(rank)] = away;
        if (have == NEAREST)
            farthest = nearest[place(NEAREST - 1)];
    }
    float wait = 0, chance = 1;  // the taxi of each rank is free with a chance of 30 %
    for (int rank = 0; rank < have; rank++) {
        wait += 0.3f * chance * sqrtf(nearest[place(rank)]);
        chance *= 0.7f;
    }
    waits[i] = wait + chance * 10.0f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cabs");
    int zones = p.small ? 2 : 512, per_zone = p.small ? 64 : 512, count = zones * per_zone;
    unsigned seed = 5;
    std::vector<int> first(zones + 1), parties(count);
    for (int z = 0; z < zones; z++)
        first[z + 1] = first[z] + (p.small ? 24 : 200) + lcg_next(&seed, p.small ? 16 : 200);
    std::vector<Taxi> taxis(first[zones]);
    for (Taxi &t : taxis) {
        t.x = lcg_next(&seed, 100000) * 1e-4f;
        t.y = lcg_next(&seed, 100000) * 1e-4f;
        t.seats = 3 + lcg_next(&seed, 4);
    }
    std::vector<float2> passengers(count);
    for (int i = 0; i < count; i++) {
        passengers[i].x = lcg_next(&seed, 100000) * 1e-4f;
        passengers[i].y = lcg_next(&seed, 100000) * 1e-4f;
        parties[i] = 1 + lcg_next(&seed, 5);
    }
    Taxi *d_taxis = device_copy_of(taxis.data(), taxis.size());
    int *d_first = device_copy_of(first.data(), first.size()), *d_parties = device_copy_of(parties.data(), count);
    float2 *d_passengers = device_copy_of(passengers.data(), count);
    float *d_waits = device_array<float>(count);
    pair_time(&p, [&] {
        waiting<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_taxis, d_first, d_passengers, d_parties, d_waits, count,
                                                        per_zone);
    });
    std::vector<float> waits = host_copy_of(d_waits, count);
    for (int i = 0; i < count; i += p.small ? 1 : 101) {
        std::vector<double> away;
        for (int t = first[i / per_zone]; t < first[i / per_zone + 1]; t++)
            if (taxis[t].seats >= parties[i])
                away.push_back(hypot(taxis[t].x - passengers[i].x, taxis[t].y - passengers[i].y));
        std::sort(away.begin(), away.end());
        double wait = 0, chance = 1;
        for (size_t rank = 0; rank < away.size() && rank < NEAREST; rank++) {
            wait += 0.3 * chance * away[rank];
            chance *= 0.7;
        }
        pair_near(&p, "wait", i, wait + chance * 10, waits[i], 1e-4);
    }
    return pair_end(&p);
}
