// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for eight blocks on an SM, only for three.
// Why: eight blocks of 256 threads leave 32 registers a thread; the 35 sums do not fit and live in local memory.
#include "../common.h"

enum { BLOCK = 256, TERMS = 7, PRODUCTS = TERMS * (TERMS + 1) / 2, SUMS = PRODUCTS + TERMS };

#ifdef AFTER
enum { BLOCKS_PER_SM = 3 };
#else
enum { BLOCKS_PER_SM = 8 };
#endif

// The normal equations of a fuel model for each tractor of a hire firm: fuel against speed, slope, load and two
// products of them. One thread per tractor; the logs hold the samples of one minute of all tractors side by side.
__global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    fuel_model(const float *speeds, const float *slopes, const float *loads, const float *fuels, float *equations,
               int n, int minutes) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float sums[SUMS] = {0};
    for (int m = 0; m < minutes; m++) {
        size_t at = (size_t)m * n + i;
        float speed = speeds[at], slope = slopes[at], load = loads[at], fuel = fuels[at];
        float terms[TERMS] = {1, speed, slope, load, speed * load, slope * load, speed * speed};
        int k = 0;
#pragma unroll
        for (int a = 0; a < TERMS; a++) {
#pragma unroll
            for (int b = 0; b <= a; b++, k++)
                sums[k] += terms[a] * terms[b];
            sums[PRODUCTS + a] += terms[a] * fuel;
        }
    }
#pragma unroll
    for (int k = 0; k < SUMS; k++)
        equations[(size_t)k * n + i] = sums[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tractors");
    int n = p.small ? 1024 : 132 * 1024, minutes = p.small ? 12 : 60;
    size_t count = (size_t)n * minutes;
    std::vector<float> speeds = random_floats(count, 0, 3, 1), slopes = random_floats(count, -1, 1, 2),
                       loads = random_floats(count, 0, 2, 3), fuels = random_floats(count, 0, 4, 4);
    float *d_speeds = device_copy_of(speeds.data(), count), *d_slopes = device_copy_of(slopes.data(), count),
          *d_loads = device_copy_of(loads.data(), count), *d_fuels = device_copy_of(fuels.data(), count),
          *d_equations = device_array<float>((size_t)n * SUMS);
    pair_time(&p, [&] {
        fuel_model<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_speeds, d_slopes, d_loads, d_fuels, d_equations, n, minutes);
    });
    std::vector<float> equations = host_copy_of(d_equations, (size_t)n * SUMS);
    for (int i = 0; i < n; i += p.small ? 1 : 53) {
        double sums[SUMS] = {0};
        for (int m = 0; m < minutes; m++) {
            size_t at = (size_t)m * n + i;
            double speed = speeds[at], slope = slopes[at], load = loads[at];
            double terms[TERMS] = {1, speed, slope, load, speed * load, slope * load, speed * speed};
            int k = 0;
            for (int a = 0; a < TERMS; a++) {
                for (int b = 0; b <= a; b++)
                    sums[k++] += terms[a] * terms[b];
                sums[PRODUCTS + a] += terms[a] * fuels[at];
            }
        }
        for (int k = 0; k < SUMS; k++)
            pair_near(&p, "equation", (size_t)k * n + i, sums[k], equations[(size_t)k * n + i], 1e-3);
    }
    return pair_end(&p);
}
