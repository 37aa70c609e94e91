// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a lap is compared with the best one so far before the atomic operation, which most laps then do without.
// Why: millions of laps want to change the best times of twenty-two cars, and hardly any of them is a new best.
#include "../common.h"

enum { BLOCK = 256, CARS = 22 };

// Best lap of each car over simulated races: three sectors in tenths of milliseconds, with what fuel and tyres cost.
__global__ void best_laps(const unsigned char *cars, const unsigned short *fuel, const unsigned *first,
                          const unsigned *second, const unsigned *third, unsigned *best) {
    int i = blockIdx.x * BLOCK + threadIdx.x, car = cars[i];
    unsigned burden = fuel[i], lap = first[i] + second[i] + third[i] + burden * 3u + (burden * burden >> 7);
#ifdef AFTER
    if (lap < best[car])
        atomicMin(&best[car], lap);
#else
    atomicMin(&best[car], lap);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lap_times");
    int n = p.small ? 1 << 13 : 1 << 22;
    std::vector<unsigned char> cars(n);
    std::vector<unsigned short> fuel(n);
    std::vector<unsigned> sectors(3 * (size_t)n);
    lcg_fill(cars.data(), n, 1, CARS);
    lcg_fill(fuel.data(), n, 2, 1100);
    lcg_fill(sectors.data(), sectors.size(), 3, 20000);
    for (unsigned &s : sectors)
        s += 250000;
    unsigned char *d_cars = device_copy_of(cars.data(), n);
    unsigned short *d_fuel = device_copy_of(fuel.data(), n);
    unsigned *d_sectors = device_copy_of(sectors.data(), sectors.size()), *d_best = device_array<unsigned>(CARS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_best, 0xff, CARS * sizeof(unsigned)));
        best_laps<<<n / BLOCK, BLOCK>>>(d_cars, d_fuel, d_sectors, d_sectors + n, d_sectors + 2 * (size_t)n, d_best);
    });
    std::vector<unsigned> best = host_copy_of(d_best, CARS), expected(CARS, ~0u);
    for (int i = 0; i < n; i++) {
        unsigned lap = sectors[i] + sectors[(size_t)n + i] + sectors[2 * (size_t)n + i];
        lap += fuel[i] * 3u + ((unsigned)fuel[i] * fuel[i] >> 7);
        expected[cars[i]] = std::min(expected[cars[i]], lap);
    }
    for (int car = 0; car < CARS; car++)
        pair_near(&p, "best", car, expected[car], best[car], 0);
    return pair_end(&p);
}
