// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants are written with f.
// Why: each meets a float, which is converted to double precision and back.
#include "../common.h"

enum { BLOCK = 256, STEPS = 32 };

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

// A synthesiser's envelope and soft limiter: each thread has a voice.
__global__ void envelope(const float *in, float *out, int voices) {
    int v = blockIdx.x * BLOCK + threadIdx.x;
    float level = 0;
    for (int k = 0; k < STEPS; k++) {
        float x = in[(size_t)k * voices + v];
        float size = fabsf(x);
        level = size > level ? C(0.7) * level + C(0.3) * size : C(0.99) * level;
        out[(size_t)k * voices + v] = x * (C(1.5) - C(0.5) * level * level) + C(0.001);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "envelope");
    int voices = p.small ? 1 << 13 : 1 << 20;
    size_t all = (size_t)voices * STEPS;
    std::vector<float> in = random_floats(all, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), all), *d_out = device_array<float>(all);
    pair_time(&p, [&] { envelope<<<voices / BLOCK, BLOCK>>>(d_in, d_out, voices); });
    std::vector<float> out = host_copy_of(d_out, all);
    for (int v = 0; v < voices; v += 1009) {
        double level = 0;
        for (int k = 0; k < STEPS; k++) {
            double x = in[(size_t)k * voices + v], size = fabs(x);
            level = size > level ? 0.7 * level + 0.3 * size : 0.99 * level;
            pair_near(&p, "out", (size_t)k * voices + v, x * (1.5 - 0.5 * level * level) + 0.001,
                      out[(size_t)k * voices + v], 1e-4);
        }
    }
    return pair_end(&p);
}
