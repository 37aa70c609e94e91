// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: a time goes into the list of the best ones with a minimum and a maximum for each place, without asking.
// Why: whether and where a time goes in is different in each thread, so that a warp runs through all the branches.
#include "../common.h"

enum { BLOCK = 512 };

// The BEST smallest numbers seen, in ascending order.
template <int BEST> struct Leaders {
    unsigned list[BEST];

    __device__ Leaders() {
#pragma unroll
        for (int k = 0; k < BEST; k++)
            list[k] = ~0u;
    }

    __device__ void enter(unsigned entry) {
#ifdef AFTER
#pragma unroll
        for (int k = 0; k < BEST; k++) {
            unsigned worse = max(list[k], entry);
            list[k] = min(list[k], entry);
            entry = worse;
        }
#else
        if (entry < list[BEST - 1]) {
            list[BEST - 1] = entry;
            rise<BEST - 1>();
        }
#endif
    }

#ifndef AFTER
    // The entry at K goes up as long as it is better than the one above it.
    template <int K> __device__ void rise() {
        if constexpr (K > 0)
            if (list[K] < list[K - 1]) {
                unsigned worse = list[K - 1];
                list[K - 1] = list[K];
                list[K] = worse;
                rise<K - 1>();
            }
    }
#endif
};

// Season's bests: the mean of each swimmer's BEST fastest times, in 1/100 of a second, and the race of the very best.
// Times of one race lie side by side; swimmers took part in a different number of races.
template <int BEST>
__global__ void __launch_bounds__(BLOCK) season(const unsigned short *__restrict__ times, const int *__restrict__ races,
                                                float *__restrict__ means, int *__restrict__ best_race, int swimmers) {
    int who = blockIdx.x * BLOCK + threadIdx.x;
    if (who >= swimmers)
        return;
    Leaders<BEST> leaders;
    int swum = races[who];
    for (int r = 0; r < swum; r++)
        leaders.enter((unsigned)times[(size_t)r * swimmers + who] << 8 | r);
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < BEST; k++)
        sum += leaders.list[k] >> 8;
    means[who] = (float)sum / BEST;
    best_race[who] = leaders.list[0] & 255;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "swimmers");
    const int best = 6;
    int swimmers = p.small ? 700 : 400000, most_races = p.small ? 40 : 100, fewest = most_races - 15;
    size_t count = (size_t)swimmers * most_races;
    unsigned seed = 21;
    std::vector<unsigned short> times(count);
    for (unsigned short &t : times)
        t = (unsigned short)(4800 + lcg_next(&seed, 3000));
    std::vector<int> races(swimmers);
    for (int &r : races)
        r = fewest + lcg_next(&seed, most_races - fewest + 1);
    unsigned short *d_times = device_copy_of(times.data(), count);
    int *d_races = device_copy_of(races.data(), swimmers), *d_best_race = device_array<int>(swimmers);
    float *d_means = device_array<float>(swimmers);
    pair_time(&p, [&] {
        season<best><<<(swimmers + BLOCK - 1) / BLOCK, BLOCK>>>(d_times, d_races, d_means, d_best_race, swimmers);
    });
    std::vector<float> means = host_copy_of(d_means, swimmers);
    std::vector<int> best_race = host_copy_of(d_best_race, swimmers);
    for (int i = 0; i < swimmers; i += p.small ? 1 : 97) {
        std::vector<unsigned> all;
        for (int r = 0; r < races[i]; r++)
            all.push_back((unsigned)times[(size_t)r * swimmers + i] << 8 | r);
        std::sort(all.begin(), all.end());
        double sum = 0;
        for (int k = 0; k < best; k++)
            sum += all[k] >> 8;
        pair_near(&p, "means", i, sum / best, means[i], 1e-6);
        pair_near(&p, "best race", i, all[0] & 255, best_race[i], 0);
    }
    return pair_end(&p);
}
