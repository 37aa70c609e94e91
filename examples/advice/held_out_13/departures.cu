// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the remainder uses a multiplier that the host computed for each line's interval.
// Why: an integer division by a number known only at run time takes some twenty instructions.
#include "../common.h"

enum { BLOCK = 256, LINES = 24 };

struct Line {
    unsigned interval, first, ride, multiplier;  // multiplier: 2^32 / interval, rounded up
};
__constant__ Line d_lines[LINES];

// When each passenger arrives at the centre, by the line that is best for a start at that second.
__global__ void departures(const unsigned *starts, unsigned *arrivals) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned start = starts[i], soonest = ~0u;
    for (int k = 0; k < LINES; k++) {
        unsigned interval = d_lines[k].interval, since = start + interval - d_lines[k].first;
#ifdef AFTER
        since -= __umulhi(since, d_lines[k].multiplier) * interval;
#else
        since %= interval;
#endif
        unsigned wait = since ? interval - since : 0;
        soonest = min(soonest, start + wait + d_lines[k].ride);
    }
    arrivals[i] = soonest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "departures");
    int n = p.small ? 1 << 10 : 1 << 22;
    std::vector<unsigned> starts(n), lines(LINES * 2);
    lcg_fill(starts.data(), starts.size(), 1, 86400);
    lcg_fill(lines.data(), lines.size(), 2, 900);
    std::vector<Line> timetable(LINES);
    for (int k = 0; k < LINES; k++) {
        unsigned interval = 300 + lines[2 * k];
        timetable[k] = {interval, lines[2 * k + 1] % interval, 1200 + 40u * k, (unsigned)((1ull << 32) / interval + 1)};
    }
    unsigned *d_starts = device_copy_of(starts.data(), n), *d_arrivals = device_array<unsigned>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(d_lines, timetable.data(), sizeof(Line) * LINES));
    pair_time(&p, [&] { departures<<<n / BLOCK, BLOCK>>>(d_starts, d_arrivals); });
    std::vector<unsigned> arrivals = host_copy_of(d_arrivals, n);
    for (int i = 0; i < n; i += 103) {
        unsigned soonest = ~0u;
        for (const Line &line : timetable) {
            unsigned since = (starts[i] + line.interval - line.first) % line.interval;
            soonest = std::min(soonest, starts[i] + (since ? line.interval - since : 0) + line.ride);
        }
        pair_near(&p, "arrival", i, soonest, arrivals[i], 0);
    }
    return pair_end(&p);
}
