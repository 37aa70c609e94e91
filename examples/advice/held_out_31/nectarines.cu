// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the hours is unrolled eight times by a pragma.
// Why: there are twelve warps an SM only; eight hours' loads under way at a time hide more of the memory's latency.
#include "../common.h"

// Chill units of the Utah model, in halves, by the temperature in tenths of a degree Celsius.
__host__ __device__ inline int chill(int tenths) {
    return (tenths >= 15) + (tenths >= 25) - (tenths >= 92) - (tenths >= 125) - (tenths >= 160) - (tenths > 180);
}

// Nectarine trees blossom after some cold: for every site, the hour when the units since their lowest sum are enough,
// and the most units that were ever reached.
__global__ void nectarines(const short *tenths, int *ready, int *most, int sites, int hours, int enough) {
    int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= sites)
        return;
    const short *t = tenths + site;
    int sum = 0, lowest = 0, highest = 0, when = hours;
#ifdef AFTER
#pragma unroll 8
#endif
    for (int hour = 0; hour < hours; hour++) {
        sum += chill(*t);
        t += sites;
        lowest = min(lowest, sum);
        highest = max(highest, sum - lowest);
        if (highest >= enough)
            when = min(when, hour);
    }
    ready[site] = when;
    most[site] = highest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nectarines");
    int sites = p.small ? 1500 : 51000, hours = p.small ? 180 : 2160, enough = p.small ? 60 : 900;
    std::vector<short> tenths((size_t)sites * hours);
    unsigned seed = 8;
    for (int h = 0; h < hours; h++) {
        int usual = (int)(70 - 40 * sin(3.14 * h / hours) + 45 * sin(0.2618 * h));
        for (int s = 0; s < sites; s++)
            tenths[(size_t)h * sites + s] = (short)(usual + (int)lcg_next(&seed, 90) - 45 + s % 60);
    }
    short *d_tenths = device_copy_of(tenths.data(), tenths.size());
    int *d_ready = device_array<int>(sites), *d_most = device_array<int>(sites);
    pair_time(&p, [&] {
        nectarines<<<(sites + 127) / 128, 128>>>(d_tenths, d_ready, d_most, sites, hours, enough);
    });
    std::vector<int> ready = host_copy_of(d_ready, sites), most = host_copy_of(d_most, sites);
    for (int s = 0; s < sites; s += p.small ? 1 : 17) {
        int sum = 0, lowest = 0, highest = 0, when = -1;
        for (int h = 0; h < hours; h++) {
            sum += chill(tenths[(size_t)h * sites + s]);
            lowest = std::min(lowest, sum);
            highest = std::max(highest, sum - lowest);
            if (when < 0 && highest >= enough)
                when = h;
        }
        pair_near(&p, "ready", s, when < 0 ? hours : when, ready[s], 0);
        pair_near(&p, "most", s, highest, most[s], 0);
    }
    return pair_end(&p);
}
