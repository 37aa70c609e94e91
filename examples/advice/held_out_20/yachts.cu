// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the compiler is no longer asked to fit four blocks onto an SM.
// Why: with 64 registers a thread cannot hold the 66 sums of a fit; some live in local memory, in the inner loop.
#include "../common.h"

enum { TERMS = 10, SUMS = TERMS * (TERMS + 1) / 2 + TERMS + 1, BLOCK = 256 };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 4)
#endif

// The log of a yacht: angle to the wind in 1/100 degree and speed in cm/s. Sums for the fit of its polar diagram (the
// speed as a function of wind and angle); one thread per yacht, all in the same wind.
__global__ void BOUNDS polar_sums(const short2 *logs, const float *winds, float *sums, int n, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float total[SUMS];
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        total[s] = 0;
    for (int k = 0; k < count; k++) {
        short2 entry = logs[(size_t)k * n + i];
        float wind = winds[k], speed = 0.01f * entry.y, s, c;
        sincospif(entry.x * (1.0f / 18000), &s, &c);
        float terms[TERMS] = {1,         c,        s,        c * c,        c * s,
                              wind,      wind * c, wind * s, wind * c * c, wind * wind};
        int at = 0;
#pragma unroll
        for (int a = 0; a < TERMS; a++) {
#pragma unroll
            for (int b = a; b < TERMS; b++)
                total[at++] += terms[a] * terms[b];
            total[at++] += terms[a] * speed;
        }
        total[at] += speed * speed;
    }
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        sums[(size_t)s * n + i] = total[s];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "yachts");
    int n = p.small ? 256 : 132 * 1024, count = p.small ? 4 : 96;
    std::vector<short2> logs((size_t)n * count);
    unsigned seed = 1;
    for (short2 &l : logs) {
        l.x = (short)(3000 + lcg_next(&seed, 14000));
        l.y = (short)(100 + lcg_next(&seed, 150));
    }
    std::vector<float> winds = random_floats(count, 0.3f, 1.5f, 2);
    short2 *d_logs = device_copy_of(logs.data(), logs.size());
    float *d_winds = device_copy_of(winds.data(), count), *d_sums = device_array<float>((size_t)n * SUMS);
    pair_time(&p, [&] { polar_sums<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_logs, d_winds, d_sums, n, count); });
    std::vector<float> sums = host_copy_of(d_sums, (size_t)n * SUMS);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        double total[SUMS] = {0};
        for (int k = 0; k < count; k++) {
            short2 entry = logs[(size_t)k * n + i];
            double wind = winds[k], speed = 0.01 * entry.y, s = sin(3.141592653589793 * entry.x / 18000),
                   c = cos(3.141592653589793 * entry.x / 18000);
            double terms[TERMS] = {1,         c,        s,        c * c,        c * s,
                                   wind,      wind * c, wind * s, wind * c * c, wind * wind};
            int at = 0;
            for (int a = 0; a < TERMS; a++) {
                for (int b = a; b < TERMS; b++)
                    total[at++] += terms[a] * terms[b];
                total[at++] += terms[a] * speed;
            }
            total[at] += speed * speed;
        }
        for (int s = 0; s < SUMS; s++)
            pair_near(&p, "sum", (size_t)s * n + i, total[s], sums[(size_t)s * n + i], 1e-3);
    }
    return pair_end(&p);
}
