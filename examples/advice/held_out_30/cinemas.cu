// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: times of day are 32-bit integers in place of 64-bit ones.
// Why: a day has 86400 seconds, and the GPU does 64-bit arithmetic, the remainder above all, in many 32-bit steps.
#include "../common.h"

#ifdef AFTER
typedef unsigned Seconds;
#else
typedef unsigned long long Seconds;
#endif

enum { BLOCK = 256, SCREENS = 18 };

struct Screen {
    unsigned first, every, walk;  // first show, time between two shows, way from the entrance: all in seconds
};

__constant__ Screen screens[SCREENS];

// For each visitor the screen with the shortest wait: film shows go round and round all day.
__global__ void choose_screen(const unsigned *arrivals, unsigned *waits, unsigned char *choices, int visitors) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < visitors; i += gridDim.x * BLOCK) {
        Seconds arrival = arrivals[i], shortest = 86400;
        int choice = 0;
        for (int s = 0; s < SCREENS; s++) {
            Seconds every = screens[s].every, there = arrival + screens[s].walk;
            Seconds wait = every - 1 - (there + every - screens[s].first - 1) % every;
            wait += screens[s].walk;
            if (wait < shortest) {
                shortest = wait;
                choice = s;
            }
        }
        waits[i] = (unsigned)shortest;
        choices[i] = (unsigned char)choice;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cinemas");
    int visitors = p.small ? 5000 : 3000000;
    unsigned seed = 17;
    std::vector<unsigned> arrivals(visitors);
    for (unsigned &a : arrivals)
        a = 36000 + lcg_next(&seed, 43200);
    Screen programme[SCREENS];
    for (Screen &s : programme)
        s = {lcg_next(&seed, 3600), 4200 + lcg_next(&seed, 7000), 30 + lcg_next(&seed, 400)};
    CUDA_CHECK(cudaMemcpyToSymbol(screens, programme, sizeof programme));
    unsigned *d_arrivals = device_copy_of(arrivals.data(), visitors), *d_waits = device_array<unsigned>(visitors);
    unsigned char *d_choices = device_array<unsigned char>(visitors);
    int blocks = p.small ? 7 : 132 * 8;
    pair_time(&p, [&] { choose_screen<<<blocks, BLOCK>>>(d_arrivals, d_waits, d_choices, visitors); });
    std::vector<unsigned> waits = host_copy_of(d_waits, visitors);
    std::vector<unsigned char> choices = host_copy_of(d_choices, visitors);
    for (int i = 0; i < visitors; i += 31) {
        int shortest = 86400, choice = 0;
        for (int s = 0; s < SCREENS; s++) {
            int every = programme[s].every, late = arrivals[i] + programme[s].walk - programme[s].first;
            int wait = (every - late % every) % every + programme[s].walk;
            if (wait < shortest) {
                shortest = wait;
                choice = s;
            }
        }
        pair_near(&p, "wait", i, shortest, waits[i], 0);
        pair_near(&p, "choice", i, choice, choices[i], 0);
    }
    return pair_end(&p);
}
