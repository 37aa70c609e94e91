// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares 4 prints with 4 casts instead of one with one.
// Why: each number that it loads is used four times from its register, so that 8 loads serve 16 comparisons, not 32.
#include "../common.h"

#ifdef AFTER
enum { PER = 4 };
#else
enum { PER = 1 };
#endif
enum { WIDTH = 32, HEIGHT = 4, FEATURES = 60 };

// How far each footprint of a scene is from each plaster cast of the archive: sum of absolute differences.
__global__ void compare(const float *__restrict__ prints, const float *__restrict__ casts, float *__restrict__ distance,
                        int print_count, int cast_count) {
    int cast = blockIdx.x * WIDTH * PER + threadIdx.x;
    int print = blockIdx.y * HEIGHT * PER + threadIdx.y;
    float sum[PER][PER] = {};
    for (int f = 0; f < FEATURES; f++) {
        float a[PER], b[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) {
            a[k] = prints[f * print_count + print + k * HEIGHT];
            b[k] = casts[f * cast_count + cast + k * WIDTH];
        }
#pragma unroll
        for (int y = 0; y < PER; y++)
#pragma unroll
            for (int x = 0; x < PER; x++)
                sum[y][x] += fabsf(a[y] - b[x]);
    }
#pragma unroll
    for (int y = 0; y < PER; y++)
#pragma unroll
        for (int x = 0; x < PER; x++)
            distance[(size_t)(print + y * HEIGHT) * cast_count + cast + x * WIDTH] = sum[y][x];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "footprints");
    int print_count = p.small ? 32 : 1200, cast_count = p.small ? 256 : 19200;
    std::vector<float> prints = random_floats((size_t)FEATURES * print_count, 0, 1, 21);
    std::vector<float> casts = random_floats((size_t)FEATURES * cast_count, 0, 1, 22);
    float *d_prints = device_copy_of(prints.data(), prints.size());
    float *d_casts = device_copy_of(casts.data(), casts.size());
    float *d_distance = device_array<float>((size_t)print_count * cast_count);
    dim3 block(WIDTH, HEIGHT), grid(cast_count / (WIDTH * PER), print_count / (HEIGHT * PER));
    pair_time(&p, [&] { compare<<<grid, block>>>(d_prints, d_casts, d_distance, print_count, cast_count); });
    std::vector<float> distance = host_copy_of(d_distance, (size_t)print_count * cast_count);
    for (size_t at = 0; at < distance.size(); at += p.small ? 101 : 1009) {
        size_t print = at / cast_count, cast = at % cast_count;
        double sum = 0;
        for (int f = 0; f < FEATURES; f++)
            sum += fabs((double)prints[(size_t)f * print_count + print] - casts[(size_t)f * cast_count + cast]);
        pair_near(&p, "distance", at, sum, distance[at], 1e-4);
    }
    return pair_end(&p);
}
