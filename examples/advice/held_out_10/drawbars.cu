// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function of a wheel may be inlined.
// Why: a function of a few instructions is called for each wheel of an organ.
#include "../common.h"

enum { BLOCK = 256, WHEELS = 9 };

#ifdef AFTER
#define INLINED __forceinline__
#else
#define INLINED __noinline__
#endif

// The wave of one wheel: a parabola for each half of a turn.
static __device__ INLINED float wheel(float turns, float level) {
    float part = turns - floorf(turns), half = part < 0.5f ? part : part - 0.5f;
    float bow = 16.0f * half * (0.5f - half);
    return level * (part < 0.5f ? bow : -bow);
}

// The sound of an electric organ: nine wheels for each key.
__global__ void drawbars(const float *pitch, const float *levels, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float turns = pitch[i], sum = 0;
    for (int w = 0; w < WHEELS; w++)
        sum += wheel(turns * (float)(w + 1), levels[w]);
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "drawbars");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> pitch = random_floats(n, 0, 8, 1), levels = random_floats(WHEELS, 0, 1, 2);
    float *d_pitch = device_copy_of(pitch.data(), n), *d_levels = device_copy_of(levels.data(), WHEELS),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { drawbars<<<n / BLOCK, BLOCK>>>(d_pitch, d_levels, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 211) {
        double sum = 0;
        for (int w = 0; w < WHEELS; w++) {
            float turns = pitch[i] * (float)(w + 1);
            double part = turns - floorf(turns), half = part < 0.5 ? part : part - 0.5, bow = 16 * half * (0.5 - half);
            sum += levels[w] * (part < 0.5 ? bow : -bow);
        }
        pair_near(&p, "sound", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
