// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the counts are stored day by day instead of station by station.
// Why: the lanes of a warp, one station each, read places that are a whole year apart.
#include "../common.h"

enum { BLOCK = 256, DAYS = 300 };

#ifdef AFTER
#define AT(station, day, stations) ((size_t)(day) * (stations) + (station))
#else
#define AT(station, day, stations) ((size_t)(station) * DAYS + (day))
#endif

// The pollen season of many stations: it lasts from 5 % to 95 % of the year's pollen. And the worst week.
__global__ void seasons(const float *counts, int2 *seasons, float *worst, int stations) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= stations)
        return;
    float total = 0;
    for (int d = 0; d < DAYS; d++)
        total += counts[AT(i, d, stations)];
    int begin = -1, end = -1;
    float so_far = 0, week = 0, peak = 0;
    for (int d = 0; d < DAYS; d++) {
        float count = counts[AT(i, d, stations)];
        so_far += count;
        week += count;
        if (d >= 7)
            week -= counts[AT(i, d - 7, stations)];
        peak = fmaxf(peak, week);
        if (begin < 0 && 20 * so_far >= total)
            begin = d;
        if (end < 0 && 20 * so_far >= 19 * total)
            end = d;
    }
    seasons[i] = make_int2(begin, end);
    worst[i] = peak;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hayfever");
    int stations = p.small ? 32 : 101376;
    std::vector<float> counts((size_t)stations * DAYS);
    unsigned seed = 1;
    for (int i = 0; i < stations; i++)
        for (int d = 0; d < DAYS; d++)
            counts[AT(i, d, stations)] = (float)lcg_next(&seed, 20 + d % 120);  // whole grains: all sums are exact
    float *d_counts = device_copy_of(counts.data(), counts.size()), *d_worst = device_array<float>(stations);
    int2 *d_seasons = device_array<int2>(stations);
    pair_time(&p, [&] {
        seasons<<<(stations + BLOCK - 1) / BLOCK, BLOCK>>>(d_counts, d_seasons, d_worst, stations);
    });
    std::vector<int2> found = host_copy_of(d_seasons, stations);
    std::vector<float> worst = host_copy_of(d_worst, stations);
    for (int i = 0; i < stations; i += p.small ? 1 : 7) {
        long total = 0, so_far = 0, week = 0, peak = 0;
        int begin = -1, end = -1;
        for (int d = 0; d < DAYS; d++)
            total += (long)counts[AT(i, d, stations)];
        for (int d = 0; d < DAYS; d++) {
            so_far += (long)counts[AT(i, d, stations)];
            week += (long)counts[AT(i, d, stations)] - (d >= 7 ? (long)counts[AT(i, d - 7, stations)] : 0);
            peak = std::max(peak, week);
            if (begin < 0 && 20 * so_far >= total)
                begin = d;
            if (end < 0 && 20 * so_far >= 19 * total)
                end = d;
        }
        pair_near(&p, "begin", i, begin, found[i].x, 0);
        pair_near(&p, "end", i, end, found[i].y, 0);
        pair_near(&p, "worst week", i, peak, worst[i], 0);
    }
    return pair_end(&p);
}
