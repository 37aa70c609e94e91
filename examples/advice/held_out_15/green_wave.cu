// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the host works out the reciprocal of the cycle, and a high product replaces the division.
// Why: the cycle is known only at run time, so that each remainder is a division of two dozen instructions.
#include "../common.h"

enum { BLOCK = 256 };

struct Light {
    unsigned offset, red, distance;
};

// Cars drive down a street of traffic lights that share one cycle: when each arrives and how often it has to stop.
#ifdef AFTER
__global__ void drive(const Light *lights, const unsigned *starts, const unsigned *paces, unsigned *arrivals,
                      int *stops, int count, unsigned cycle, unsigned reciprocal) {
#else
__global__ void drive(const Light *lights, const unsigned *starts, const unsigned *paces, unsigned *arrivals,
                      int *stops, int count, unsigned cycle) {
#endif
    int car = blockIdx.x * BLOCK + threadIdx.x, stopped = 0;
    unsigned time = starts[car], pace = paces[car];
    for (int l = 0; l < count; l++) {
        Light light = lights[l];
        time += light.distance * pace >> 6;
        unsigned clock = time + light.offset;
#ifdef AFTER
        unsigned phase = clock - __umulhi(clock, reciprocal) * cycle;
#else
        unsigned phase = clock % cycle;
#endif
        if (phase < light.red) {
            time += light.red - phase + 20;  // ticks to get going again
            stopped++;
        }
    }
    arrivals[car] = time;
    stops[car] = stopped;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "green_wave");
    int n = p.small ? 2048 : 1 << 21, count = p.small ? 10 : 32;
    unsigned cycle = 907, seed = 1;  // ticks of a tenth of a second; clocks stay far below 2^32 / cycle
    std::vector<Light> lights(count);
    for (Light &l : lights)
        l = {lcg_next(&seed, cycle), 300 + lcg_next(&seed, 200), 100 + lcg_next(&seed, 400)};
    std::vector<unsigned> starts(n), paces(n);
    lcg_fill(starts.data(), n, 2, 864000);
    lcg_fill(paces.data(), n, 3, 40);
    for (unsigned &pace : paces)
        pace += 40;
    Light *d_lights = device_copy_of(lights.data(), count);
    unsigned *d_starts = device_copy_of(starts.data(), n), *d_paces = device_copy_of(paces.data(), n),
             *d_arrivals = device_array<unsigned>(n);
    int *d_stops = device_array<int>(n);
#ifdef AFTER
    unsigned reciprocal = (unsigned)(((1ull << 32) + cycle - 1) / cycle);
    pair_time(&p, [&] {
        drive<<<n / BLOCK, BLOCK>>>(d_lights, d_starts, d_paces, d_arrivals, d_stops, count, cycle, reciprocal);
    });
#else
    pair_time(&p, [&] { drive<<<n / BLOCK, BLOCK>>>(d_lights, d_starts, d_paces, d_arrivals, d_stops, count, cycle); });
#endif
    std::vector<unsigned> arrivals = host_copy_of(d_arrivals, n);
    std::vector<int> stops = host_copy_of(d_stops, n);
    for (int i = 0; i < n; i += 19) {
        unsigned time = starts[i];
        int stopped = 0;
        for (const Light &l : lights) {
            time += l.distance * paces[i] >> 6;
            unsigned phase = (time + l.offset) % cycle;
            if (phase < l.red) {
                time += l.red - phase + 20;
                stopped++;
            }
        }
        pair_near(&p, "arrival", i, time, arrivals[i], 0);
        pair_near(&p, "stops", i, stopped, stops[i], 0);
    }
    return pair_end(&p);
}
