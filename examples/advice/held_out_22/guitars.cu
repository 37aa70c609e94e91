// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the distortion pedal are floats.
// Why: they are doubles, so each stage converts the sample to double, computes there, and converts it back.
#include "../common.h"

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

enum { BLOCK = 256 };

// A guitar through the stages of a valve amplifier: bias, soft clipping, and a little of the dry signal again.
__global__ void amplify(const float *dry, const short *knob, float *wet, int count, int stages) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float before = i ? dry[i - 1] : 0.0f, input = dry[i], x = C(0.8) * input + C(0.2) * before;
    float drive = C(1.0) + knob[i / 4096] * C(0.001);
    for (int s = 0; s < stages; s++) {
        x = fminf(fmaxf(x * drive + C(0.03), -1.0f), 1.0f);
        x = C(1.45) * x - C(0.45) * x * x * x;
        x = C(0.92) * x + C(0.07) * input;
    }
    wet[i] = x;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "guitars");
    int n = p.small ? 8192 : 132 * 4096 * 16, stages = 3;
    std::vector<float> dry = random_floats(n, -1, 1, 1);
    std::vector<short> knob(n / 4096);
    unsigned seed = 2;
    for (short &k : knob)
        k = lcg_next(&seed, 900);
    float *d_dry = device_copy_of(dry.data(), n), *d_wet = device_array<float>(n);
    short *d_knob = device_copy_of(knob.data(), knob.size());
    pair_time(&p, [&] { amplify<<<n / BLOCK, BLOCK>>>(d_dry, d_knob, d_wet, n, stages); });
    std::vector<float> wet = host_copy_of(d_wet, n);
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        double x = 0.8 * dry[i] + 0.2 * (i ? dry[i - 1] : 0), drive = 1 + knob[i / 4096] * 0.001;
        for (int s = 0; s < stages; s++) {
            x = std::min(std::max(x * drive + 0.03, -1.0), 1.0);
            x = 1.45 * x - 0.45 * x * x * x;
            x = 0.92 * x + 0.07 * dry[i];
        }
        pair_near(&p, "wet", i, x, wet[i], 1e-4);
    }
    return pair_end(&p);
}
