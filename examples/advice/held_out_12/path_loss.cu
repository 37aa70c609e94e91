// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants are floats.
// Why: constants without an f make most of the formula, its power too, one of doubles.
#include "../common.h"

enum { BLOCK = 256, MASTS = 24 };

#ifdef AFTER
#define NUMBER(x) x##f
#else
#define NUMBER(x) x
#endif

struct Mast {
    float x, y, height, power;
};

// Signal of all masts at each point of a map, in dBm, by Hata's model for a small town at `megahertz`.
__global__ void path_loss(const Mast *masts, float *signal, int width, float cell, float megahertz) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = (float)(i % width) * cell, y = (float)(i / width) * cell, milliwatts = 0;
    float lg = log10f(megahertz);
    float handset = (NUMBER(1.1) * lg - NUMBER(0.7)) * NUMBER(1.5) - (NUMBER(1.56) * lg - NUMBER(0.8));
    for (int m = 0; m < MASTS; m++) {
        float dx = masts[m].x - x, dy = masts[m].y - y;
        float kilometres = sqrtf(dx * dx + dy * dy + NUMBER(0.0025));
        float lg_height = log10f(masts[m].height);
        float loss = NUMBER(69.55) + NUMBER(26.16) * lg - NUMBER(13.82) * lg_height - handset +
                     (NUMBER(44.9) - NUMBER(6.55) * lg_height) * log10f(kilometres);
        milliwatts += pow(NUMBER(10.0), (masts[m].power - loss) / NUMBER(10.0));
    }
    signal[i] = NUMBER(10.0) * log10f(milliwatts);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "path_loss");
    int width = p.small ? 32 : 1024, n = width * width;
    float cell = 40.0f / (float)width, megahertz = 900;
    std::vector<float> places = random_floats(MASTS * 2, 0, 40, 1), heights = random_floats(MASTS, 30, 120, 2);
    std::vector<Mast> masts(MASTS);
    for (int m = 0; m < MASTS; m++)
        masts[m] = {places[2 * m], places[2 * m + 1], heights[m], 40.0f + (float)(m % 5)};
    Mast *d_masts = device_copy_of(masts.data(), MASTS);
    float *d_signal = device_array<float>(n);
    pair_time(&p, [&] { path_loss<<<n / BLOCK, BLOCK>>>(d_masts, d_signal, width, cell, megahertz); });
    std::vector<float> signal = host_copy_of(d_signal, n);
    double lg = log10(megahertz), handset = (1.1 * lg - 0.7) * 1.5 - (1.56 * lg - 0.8);
    for (int i = 0; i < n; i += 101) {
        double milliwatts = 0;
        for (const Mast &m : masts) {
            double dx = m.x - (double)(i % width) * cell, dy = m.y - (double)(i / width) * cell;
            double loss = 69.55 + 26.16 * lg - 13.82 * log10(m.height) - handset +
                          (44.9 - 6.55 * log10(m.height)) * 0.5 * log10(dx * dx + dy * dy + 0.0025);
            milliwatts += pow(10, (m.power - loss) / 10);
        }
        pair_near(&p, "signal", i, 10 * log10(milliwatts), signal[i], 1e-4);
    }
    return pair_end(&p);
}
