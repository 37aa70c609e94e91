// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block plays one day of the metro line instead of four.
// Why: 600 blocks run four to an SM, 528 at a time; the 72 that are left then take four more days with most of the
//      machine idle. Blocks a quarter as long leave a quarter of that.
#include "../common.h"

enum { TRAINS = 64, MOST_STOPS = 180, PITCH = TRAINS + 1, BLOCKS = 600, PLAYED = 4, DAYS = BLOCKS * PLAYED };
#ifdef AFTER
enum { RUN = 1 };
#else
enum { RUN = PLAYED };
#endif

// Seconds in the timetable: slack between stops, the time that a train must keep behind the one ahead.
struct Timetable {
    int headway, buffer, door, signal;  // between trains, spare of it; what a jammed door and a red signal cost
    unsigned door_odds, signal_odds;    // of 65536
};

__host__ __device__ inline unsigned scramble(unsigned day, unsigned train, unsigned stop) {
    unsigned h = day * 0x9e3779b1u ^ train * 0x85ebca77u ^ stop * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return h ^ h >> 13;
}

// What goes wrong at a stop: doors at any time, signals more when the line is full in the middle of the day.
__host__ __device__ inline int mishap(const Timetable &t, unsigned day, int train, int stop) {
    unsigned h = scramble(day, train, stop), rush = train > 20 && train < 44 ? 2 : 1;
    int late = (h & 0xffff) < t.door_odds * rush ? t.door + (int)(h >> 27) : 0;
    return late + (h >> 16 < t.signal_odds ? t.signal : 0);
}

// A thread drives a train from stop to stop. Trains start one after the other; each keeps behind the one ahead of it,
// of which it knows how late it left this stop. Afterwards a thread counts the late trains of a stop.
__global__ void __launch_bounds__(TRAINS) play(Timetable timetable, const int *__restrict__ slack, int stops, int limit,
                                               int *late_trains, int *worst) {
    __shared__ int late[MOST_STOPS][PITCH];
    int train = threadIdx.x;
    for (int k = 0; k < RUN; k++) {
        int day = blockIdx.x * RUN + k, delay = 0;
        for (int stop = 0; stop < stops; stop++) {
            delay = max(delay - slack[stop], 0) + mishap(timetable, day, train, stop);
            int ahead = __shfl_up_sync(0xffffffffu, delay, 1);
            if (train % 32 > 0)
                delay = max(delay, ahead - timetable.buffer);
            late[stop][train] = delay;
        }
        __syncthreads();
        for (int stop = train; stop < stops; stop += TRAINS) {
            int count = 0, most = 0;
            for (int i = 0; i < TRAINS; i++) {
                count += late[stop][i] > limit;
                most = max(most, late[stop][i]);
            }
            late_trains[day * stops + stop] = count;
            worst[day * stops + stop] = most;
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "timetables");
    int stops = p.small ? 2 : MOST_STOPS, limit = 120;
    Timetable timetable = {180, 70, 25, 150, 2600, 300};
    std::vector<int> slack;
    for (int s = 0; s < stops; s++)
        slack.push_back(s % 12 == 11 ? 45 : 3 + s * 7 % 5);
    int *d_slack = device_copy_of(slack.data(), stops), *d_late = device_array<int>((size_t)DAYS * stops),
        *d_worst = device_array<int>((size_t)DAYS * stops);
    pair_time(&p, [&] { play<<<DAYS / RUN, TRAINS>>>(timetable, d_slack, stops, limit, d_late, d_worst); });
    std::vector<int> late = host_copy_of(d_late, (size_t)DAYS * stops), worst = host_copy_of(d_worst, late.size());
    for (int day = 0; day < DAYS; day += 37) {
        std::vector<int> delay(TRAINS, 0), before;
        for (int stop = 0; stop < stops; stop++) {
            int count = 0, most = 0;
            for (int t = 0; t < TRAINS; t++)
                delay[t] = std::max(delay[t] - slack[stop], 0) + mishap(timetable, day, t, stop);
            before = delay;
            for (int t = 0; t < TRAINS; t++) {
                if (t % 32 > 0)
                    delay[t] = std::max(before[t], before[t - 1] - timetable.buffer);
                count += delay[t] > limit;
                most = std::max(most, delay[t]);
            }
            pair_near(&p, "late", (size_t)day * stops + stop, count, late[(size_t)day * stops + stop], 0);
            pair_near(&p, "worst", (size_t)day * stops + stop, most, worst[(size_t)day * stops + stop], 0);
        }
    }
    return pair_end(&p);
}
