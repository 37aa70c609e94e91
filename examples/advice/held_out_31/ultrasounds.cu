// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block takes 131 samples in depth instead of 120.
// Why: of 144 blocks, one per SM, twelve wait until the other 132 are done; 132 longer ones all run at once.
#include "../common.h"

#define LINES_PER_BLOCK 1024
#define WARM_UP 32
#ifdef AFTER
#define STRIP 131
#else
#define STRIP 120
#endif

// Butterworth low-pass, a tenth of the sampling rate.
__host__ __device__ inline float low_pass(float in, float &s1, float &s2) {
    float out = 0.06745527f * in + s1;
    s1 = 0.13491055f * in + 1.1429805f * out + s2;
    s2 = 0.06745527f * in - 0.4128016f * out;
    return out;
}

struct Oscillator {
    float c, s, turn_c, turn_s;
    __device__ Oscillator(float half_turns, int at) {
        sincospif(half_turns, &turn_s, &turn_c);
        sincospif(half_turns * at, &s, &c);
    }
    __device__ void advance() {
        float old = c;
        c = old * turn_c - s * turn_s;
        s = old * turn_s + s * turn_c;
    }
};

// The image from the echoes of a probe's scan lines: what the fundamental and its harmonic have below them, put
// together, in steps of a quarter decibel. A thread goes down a strip of its line, after the WARM_UP samples above it.
__global__ void __launch_bounds__(LINES_PER_BLOCK, 1)
    beam_image(const short *__restrict__ echoes, unsigned char *__restrict__ image, int lines, int depth,
               float half_turns, float gain) {
    int line = blockIdx.x * LINES_PER_BLOCK + threadIdx.x;
    int top = blockIdx.y * STRIP, bottom = min(top + STRIP, depth);
    if (line >= lines)
        return;
    int at = max(top - WARM_UP, 0);
    Oscillator base(half_turns, at), harmonic(2 * half_turns, at);
    float state[8] = {};
    for (; at < bottom; at++) {
        float echo = echoes[(size_t)at * lines + line];
        float i1 = low_pass(echo * base.c, state[0], state[1]), q1 = low_pass(echo * base.s, state[2], state[3]);
        float i2 = low_pass(echo * harmonic.c, state[4], state[5]);
        float q2 = low_pass(echo * harmonic.s, state[6], state[7]);
        base.advance();
        harmonic.advance();
        if (at >= top) {
            float power = i1 * i1 + q1 * q1 + gain * (i2 * i2 + q2 * q2);
            float level = 40 * log10f(power + 1);
            image[(size_t)at * lines + line] = (unsigned char)min(__float2int_rn(level), 255);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ultrasounds");
    int lines = p.small ? 1024 : 32 * 128, depth = p.small ? 250 : 4320;
    const float half_turns = 0.3125f, gain = 2.5f;
    std::vector<short> echoes((size_t)lines * depth);
    unsigned seed = 9;
    for (int at = 0; at < depth; at++)
        for (int l = 0; l < lines; l++)
            echoes[(size_t)at * lines + l] = (short)(((int)lcg_next(&seed, 4001) - 2000) * exp(-2.0 * at / depth));
    short *d_echoes = device_copy_of(echoes.data(), echoes.size());
    unsigned char *d_image = device_array<unsigned char>(echoes.size());

    dim3 grid((lines + LINES_PER_BLOCK - 1) / LINES_PER_BLOCK, (depth + STRIP - 1) / STRIP);
    pair_time(&p, [&] { beam_image<<<grid, LINES_PER_BLOCK>>>(d_echoes, d_image, lines, depth, half_turns, gain); });

    std::vector<unsigned char> image = host_copy_of(d_image, echoes.size());
    for (int l = 5; l < lines; l += 171) {
        float state[8] = {};
        for (int at = 0; at < depth; at++) {
            float part[4], echo = echoes[(size_t)at * lines + l];
            for (int k = 0; k < 4; k++) {
                double phase = 3.14159265358979 * half_turns * (k / 2 + 1) * at;
                part[k] = low_pass((float)(echo * (k % 2 ? sin(phase) : cos(phase))), state[2 * k], state[2 * k + 1]);
            }
            double power = part[0] * part[0] + part[1] * part[1] + gain * (part[2] * part[2] + part[3] * part[3]);
            double level = std::min(40 * log10(power + 1), 255.0);
            pair_near(&p, "level", (size_t)at * lines + l, level, image[(size_t)at * lines + l], 1.2 / (1 + level));
        }
    }
    return pair_end(&p);
}
