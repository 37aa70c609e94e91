// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: one division before the loop gives the frequency, and the loop multiplies by it instead of dividing.
// Why: a division is some ten instructions, a multiplication is one, and the divisor is the same all the time.
#include "../common.h"

enum { BLOCK = 256 };

// How well a pulse of triangular shape fits the light of a star, for each trial period: x is the time (s) of an
// observation, y is the flux.
__global__ void fold(const float2 *observations, int count, float shortest, float step, float *fit, int periods) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= periods)
        return;
    float period = shortest + i * step, with_pulse = 0, squares = 0;
#ifdef AFTER
    float frequency = 1 / period;
#endif
    for (int k = 0; k < count; k++) {
        float2 o = observations[k];
#ifdef AFTER
        float turns = o.x * frequency;
#else
        float turns = o.x / period;
#endif
        float pulse = fabsf(2 * (turns - floorf(turns)) - 1) - 0.5f;
        with_pulse += pulse * o.y;
        squares += pulse * pulse;
    }
    fit[i] = with_pulse * with_pulse / squares;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pulsars");
    int periods = p.small ? 4000 : 270000, count = p.small ? 50 : 1100;
    float shortest = 0.7f, step = 2.5f / periods;
    std::vector<float> gaps = random_floats(count, 0.01f, 0.4f, 4), noise = random_floats(count, -0.2f, 0.2f, 5);
    std::vector<float2> observations(count);
    float t = 0;
    for (int k = 0; k < count; k++) {
        t += gaps[k];
        observations[k] = make_float2(t, 0.3f * cosf(t * 6.2831853f / 1.337f) + noise[k]);
    }
    float2 *d_observations = device_copy_of(observations.data(), count);
    float *d_fit = device_array<float>(periods);
    int blocks = (periods + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { fold<<<blocks, BLOCK>>>(d_observations, count, shortest, step, d_fit, periods); });
    std::vector<float> fit = host_copy_of(d_fit, periods);
    for (int i = 0; i < periods; i += 173) {
        double period = fmaf((float)i, step, shortest), with_pulse = 0, squares = 0;
        for (float2 o : observations) {
            double turns = o.x / period, pulse = fabs(2 * (turns - floor(turns)) - 1) - 0.5;
            with_pulse += pulse * o.y;
            squares += pulse * pulse;
        }
        pair_near(&p, "fit", i, with_pulse * with_pulse / squares, fit[i], 2e-3);
    }
    return pair_end(&p);
}
