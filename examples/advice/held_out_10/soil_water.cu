// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the rain of the next day is loaded before the day is computed.
// Why: each turn begins with a load and then waits for it, although a long computation could go on meanwhile.
#include "../common.h"

enum { BLOCK = 128, DAYS = 64, LAYERS = 12 };

// How wet the ground is after some days of rain: water sinks through layers.
__global__ void soil_water(const float *rain, float *out, int fields) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float wet = 0.3f;
#ifdef AFTER
    float next = rain[i];
#endif
#pragma unroll 1
    for (int d = 0; d < DAYS; d++) {
#ifdef AFTER
        float today = next;
        if (d + 1 < DAYS)
            next = rain[(d + 1) * fields + i];
#else
        float today = rain[d * fields + i];
#endif
        wet += today;
#pragma unroll
        for (int layer = 0; layer < LAYERS; layer++)
            wet = wet * (0.98f - 0.01f * wet) + 0.001f;
    }
    out[i] = wet;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "soil_water");
    int fields = p.small ? 1 << 12 : 1 << 17;
    std::vector<float> rain = random_floats((size_t)fields * DAYS, 0, 0.5f, 1);
    float *d_rain = device_copy_of(rain.data(), rain.size()), *d_out = device_array<float>(fields);
    pair_time(&p, [&] { soil_water<<<fields / BLOCK, BLOCK>>>(d_rain, d_out, fields); });
    std::vector<float> out = host_copy_of(d_out, fields);
    for (int i = 0; i < fields; i += 61) {
        double wet = 0.3;
        for (int d = 0; d < DAYS; d++) {
            wet += rain[(size_t)d * fields + i];
            for (int layer = 0; layer < LAYERS; layer++)
                wet = wet * (0.98 - 0.01 * wet) + 0.001;
        }
        pair_near(&p, "wet", i, wet, out[i], 1e-4);
    }
    return pair_end(&p);
}
