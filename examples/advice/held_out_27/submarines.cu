// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread makes eight results below each other instead of one, and uses each echo it has read for all of them.
// Why: neighbouring results need nearly the same 21 echoes; one result in each thread reads every echo 21 times.
#include "../common.h"

#ifdef AFTER
enum { RESULTS = 8 };
#else
enum { RESULTS = 1 };
#endif

enum { TAPS = 21, BLOCK_X = 64, BLOCK_Y = 4 };

struct Filter {
    float hull[TAPS];
};

// Smooths the sonar picture of a submarine along time (down the picture), and multiplies by the gain of the beam.
// There are TAPS - 1 more pings than results.
__global__ void smooth_pings(const short *__restrict__ echoes, const float *__restrict__ gain,
                             float *__restrict__ smooth, int beams, const Filter filter) {
    int beam = blockIdx.x * BLOCK_X + threadIdx.x, ping = (blockIdx.y * BLOCK_Y + threadIdx.y) * RESULTS;
    const short *echo = echoes + (size_t)ping * beams + beam;
    float sums[RESULTS] = {};
#pragma unroll
    for (int k = 0; k < RESULTS + TAPS - 1; k++) {
        float value = echo[(size_t)k * beams];
#pragma unroll
        for (int r = 0; r < RESULTS; r++)
            if (k - r >= 0 && k - r < TAPS)
                sums[r] += filter.hull[k - r] * value;
    }
    float factor = gain[beam];
#pragma unroll
    for (int r = 0; r < RESULTS; r++)
        smooth[(size_t)(ping + r) * beams + beam] = sums[r] * factor;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "submarines");
    int beams = p.small ? BLOCK_X : 64 * BLOCK_X, pings = p.small ? 32 : 4096;
    size_t n = (size_t)beams * pings, all = (size_t)beams * (pings + TAPS - 1);
    std::vector<short> echoes(all);
    lcg_fill(echoes.data(), all, 5, 4000);
    std::vector<float> gain = random_floats(beams, 0.5f, 2, 6);
    Filter filter;
    for (int k = 0; k < TAPS; k++)
        filter.hull[k] = expf(-0.02f * (k - TAPS / 2) * (k - TAPS / 2)) / 1000;
    short *d_echoes = device_copy_of(echoes.data(), all);
    float *d_gain = device_copy_of(gain.data(), beams), *d_smooth = device_array<float>(n);
    dim3 block(BLOCK_X, BLOCK_Y), grid(beams / BLOCK_X, pings / (BLOCK_Y * RESULTS));
    pair_time(&p, [&] { smooth_pings<<<grid, block>>>(d_echoes, d_gain, d_smooth, beams, filter); });
    std::vector<float> smooth = host_copy_of(d_smooth, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 89) {
        double sum = 0;
        for (int k = 0; k < TAPS; k++)
            sum += (double)filter.hull[k] * echoes[i + (size_t)k * beams];
        pair_near(&p, "smooth", i, sum * gain[i % beams], smooth[i], 1e-4);
    }
    return pair_end(&p);
}
