// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 256 threads instead of 32.
// Why: an SM holds 32 blocks at most, so blocks of one warp fill half of it, and every thread waits for memory twice.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

enum { STOPS = 20, CLASSES = 8 };

struct Arrival {
    unsigned trip;
    unsigned char stop, unused;
    unsigned short minute;  // of the day
};

__constant__ short fines[CLASSES];  // cents a minute, by the line's class

static __host__ __device__ int fine_of(int late, int cents) {
    if (late < -1)
        return 4 * cents;  // ahead of time is worse: nobody catches that bus
    return late <= 3 ? 0 : late <= 15 ? (late - 3) * cents : 12 * cents + (late - 15) * cents / 2;
}

// What a bus company owes the town for each arrival, by how late the bus was and by the class of its line.
__global__ void penalties(const Arrival *arrivals, const unsigned short *timetable, const unsigned char *classes,
                          int *owed, unsigned count) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Arrival arrival = arrivals[i];
    int due = timetable[arrival.trip * STOPS + arrival.stop];
    owed[i] = fine_of(arrival.minute - due, fines[classes[arrival.trip]]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bus_delays");
    unsigned trips = p.small ? 1500 : 700000, seed = 1;
    std::vector<unsigned short> timetable((size_t)trips * STOPS);
    std::vector<unsigned char> classes(trips);
    std::vector<Arrival> arrivals;
    for (unsigned t = 0; t < trips; t++) {
        classes[t] = lcg_next(&seed, CLASSES);
        unsigned minute = 240 + lcg_next(&seed, 1000);
        for (int s = 0; s < STOPS; s++) {
            timetable[(size_t)t * STOPS + s] = minute += 1 + lcg_next(&seed, 4);
            if (lcg_next(&seed, 8))  // some stops nobody asked for
                arrivals.push_back({t, (unsigned char)s, 0, (unsigned short)(minute + lcg_next(&seed, 26) - 3)});
        }
    }
    unsigned count = arrivals.size();
    short cents[CLASSES] = {10, 15, 20, 30, 45, 60, 90, 150};
    CUDA_CHECK(cudaMemcpyToSymbol(fines, cents, sizeof fines));
    Arrival *d_arrivals = device_copy_of(arrivals.data(), count);
    unsigned short *d_timetable = device_copy_of(timetable.data(), timetable.size());
    unsigned char *d_classes = device_copy_of(classes.data(), trips);
    int *d_owed = device_array<int>(count);
    pair_time(&p, [&] {
        penalties<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_arrivals, d_timetable, d_classes, d_owed, count);
    });
    std::vector<int> owed = host_copy_of(d_owed, count);
    for (unsigned i = 0; i < count; i += 7) {
        Arrival a = arrivals[i];
        int late = a.minute - timetable[(size_t)a.trip * STOPS + a.stop];
        pair_near(&p, "owed", i, fine_of(late, cents[classes[a.trip]]), owed[i], 0);
    }
    return pair_end(&p);
}
