// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the samples of a recording is unrolled eight times.
// Why: the warp waits for the sample of each turn before it votes on it; unrolled, the loads of eight turns are on
// their way together.
#include "../common.h"

enum { WARPS = 4, AHEAD = 8, THRESHOLD = 22 };

struct Activity {
    int bouts;    // how often the animal began to move
    int moving;   // samples in which it moved
    int longest;  // samples of the longest bout
    int effort;   // sum of the dynamic acceleration, in units of the sensor
    int peak;     // greatest dynamic acceleration
};

// Collars of a grazing herd: one warp goes through one recording (less than half an hour at 10 Hz) in the order of
// time. samples: x, y, z in 1/64 g and a spare byte, those of recording r from starts[r] to starts[r + 1], a multiple
// of 32; rest: what gravity alone gives in this recording.
__global__ void yaks(const char4 *__restrict__ samples, const int *__restrict__ starts, const char4 *__restrict__ rest,
                     Activity *__restrict__ activity, int recordings) {
    const int recording = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (recording >= recordings)
        return;
    const char4 *mine = samples + starts[recording] + lane;
    const int count = starts[recording + 1] - starts[recording];
    const char4 still = rest[recording];

    int bouts = 0, moving = 0, longest = 0, effort = 0, peak = 0, since = 0;
    unsigned moved_before = 0;  // 1 if the last sample of the turn before was one with movement
    auto follow = [&](char4 sample, int first) {
        const int dynamic = abs(sample.x - still.x) + abs(sample.y - still.y) + abs(sample.z - still.z);
        const unsigned moves = __ballot_sync(~0u, dynamic > THRESHOLD);
        // Where the animal began to move or stopped.
        for (unsigned edges = moves ^ (moves << 1 | moved_before); edges; edges &= edges - 1) {
            const int at = __ffs(edges) - 1;
            if (moves >> at & 1) {
                since = first + at;
                bouts++;
            } else {
                longest = max(longest, first + at - since);
            }
        }
        moving += __popc(moves);
        moved_before = moves >> 31;
        effort += dynamic;
        peak = max(peak, dynamic);
    };

    int i = 0;
#ifdef AFTER
    for (; i + 32 * AHEAD <= count; i += 32 * AHEAD) {
        char4 next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            next[u] = mine[i + 32 * u];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            follow(next[u], i + 32 * u);
    }
#endif
    for (; i < count; i += 32)
        follow(mine[i], i);
    if (moved_before)
        longest = max(longest, count - since);

    effort = __reduce_add_sync(~0u, effort);
    peak = __reduce_max_sync(~0u, peak);
    if (lane == 0)
        activity[recording] = {bouts, moving, longest, effort, peak};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "yaks");
    const int animals = p.small ? 3 : 88, recordings = animals * (p.small ? 3 : 24);

    std::vector<int> starts(recordings + 1, 0);
    unsigned seed = 7;
    for (int r = 0; r < recordings; r++)
        starts[r + 1] = starts[r] + 32 * ((p.small ? 40 : 460) + lcg_next(&seed, 51));

    // An animal stands for a while, then walks for a while; how long depends on it.
    std::vector<char4> samples(starts[recordings]), rest(recordings);
    for (int r = 0; r < recordings; r++) {
        rest[r] = make_char4(lcg_next(&seed, 17) - 8, lcg_next(&seed, 17) - 8, 58 + lcg_next(&seed, 7), 0);
        int spread = 4, left = 0, patience = 20 + r % 50;
        for (int t = starts[r]; t < starts[r + 1]; t++, left--) {
            if (left <= 0) {
                left = 1 + lcg_next(&seed, patience * 4);
                spread = spread == 4 ? 60 : 4;
            }
            unsigned noise = lcg_next(&seed, 1 << 24);
            samples[t] = make_char4(rest[r].x + (int)(noise & 255) * spread / 256 - spread / 2,
                                    rest[r].y + (int)(noise >> 8 & 255) * spread / 256,
                                    rest[r].z - (int)(noise >> 16) * spread / 256, 21);
        }
    }

    char4 *d_samples = device_copy_of(samples.data(), samples.size()),
          *d_rest = device_copy_of(rest.data(), rest.size());
    int *d_starts = device_copy_of(starts.data(), starts.size());
    Activity *d_activity = device_array<Activity>(recordings);
    const int blocks = (recordings + WARPS - 1) / WARPS;
    pair_time(&p, [&] { yaks<<<blocks, 32 * WARPS>>>(d_samples, d_starts, d_rest, d_activity, recordings); });

    std::vector<Activity> activity = host_copy_of(d_activity, recordings);
    for (int r = 0; r < recordings; r += p.small ? 1 : 37) {
        Activity want = {0, 0, 0, 0, 0};
        int run = 0;
        bool before = false;
        for (int t = starts[r]; t < starts[r + 1]; t++) {
            const char4 s = samples[t];
            int dynamic = abs(s.x - rest[r].x) + abs(s.y - rest[r].y) + abs(s.z - rest[r].z);
            bool now = dynamic > THRESHOLD;
            want.bouts += now && !before;
            want.moving += now;
            run = now ? run + 1 : 0;
            want.longest = std::max(want.longest, run);
            want.effort += dynamic;
            want.peak = std::max(want.peak, dynamic);
            before = now;
        }
        pair_near(&p, "bouts", r, want.bouts, activity[r].bouts, 1e-9);
        pair_near(&p, "moving", r, want.moving, activity[r].moving, 1e-9);
        pair_near(&p, "longest", r, want.longest, activity[r].longest, 1e-9);
        pair_near(&p, "effort", r, want.effort, activity[r].effort, 1e-9);
        pair_near(&p, "peak", r, want.peak, activity[r].peak, 1e-9);
    }
    return pair_end(&p);
}
