// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the state of the ice ahead is loaded before the sled is moved through the current segment.
// Why: it is loaded right before it is used, the stores keep the compiler from moving it, and few warps hide the wait.
#include "../common.h"

enum { BLOCK = 128 };

// Runs of many sleds down the track, each on its own day: slope, bend, friction and wind of each segment of two metres.
__global__ void descend(const float4 *ice, float *speeds, float *times, float *loads, int sleds, int segments) {
    const float gravity = 9.81f;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float v = 6, time = 0, hardest = 0;
#ifdef AFTER
    float4 ahead = ice[i];
#endif
    for (int s = 0; s < segments; s++) {
#ifdef AFTER
        float4 here = ahead;
        ahead = ice[(size_t)min(s + 1, segments - 1) * sleds + i];
#else
        float4 here = ice[(size_t)s * sleds + i];
#endif
        float sideways = v * v * here.y;
        float press = sqrtf(gravity * gravity + sideways * sideways);
        float air = v + here.w;
        float pull = gravity * here.x - here.z * press - 0.0015f * air * air;
        float then = sqrtf(fmaxf(v * v + 4 * pull, 1.0f));
        time += 4 / (v + then);
        hardest = fmaxf(hardest, press);
        v = then;
        speeds[(size_t)s * sleds + i] = v;
    }
    times[i] = time;
    loads[i] = hardest / gravity;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bobsleigh");
    int blocks = p.small ? 4 : 132, segments = p.small ? 8 : 400, sleds = blocks * BLOCK;
    std::vector<float> raw = random_floats((size_t)sleds * segments * 4, 0, 1, 1);
    std::vector<float4> ice((size_t)sleds * segments);
    for (size_t k = 0; k < ice.size(); k++)
        ice[k] = make_float4(0.04f + 0.1f * raw[4 * k], 0.03f * raw[4 * k + 1], 0.01f + 0.01f * raw[4 * k + 2],
                             4 * raw[4 * k + 3] - 2);
    float4 *d_ice = device_copy_of(ice.data(), ice.size());
    float *d_speeds = device_array<float>(ice.size()), *d_times = device_array<float>(sleds),
          *d_loads = device_array<float>(sleds);
    pair_time(&p, [&] { descend<<<blocks, BLOCK>>>(d_ice, d_speeds, d_times, d_loads, sleds, segments); });
    std::vector<float> speeds = host_copy_of(d_speeds, ice.size()), times = host_copy_of(d_times, sleds),
                       loads = host_copy_of(d_loads, sleds);
    for (int i = 0; i < sleds; i += p.small ? 1 : 17) {
        double v = 6, time = 0, hardest = 0;
        for (int s = 0; s < segments; s++) {
            float4 here = ice[(size_t)s * sleds + i];
            double sideways = v * v * here.y, press = sqrt(9.81 * 9.81 + sideways * sideways), air = v + here.w;
            double pull = 9.81 * here.x - here.z * press - 0.0015 * air * air;
            double then = sqrt(std::max(v * v + 4 * pull, 1.0));
            time += 4 / (v + then);
            hardest = std::max(hardest, press);
            v = then;
            pair_near(&p, "speed", (size_t)s * sleds + i, v, speeds[(size_t)s * sleds + i], 1e-3);
        }
        pair_near(&p, "time", i, time, times[i], 1e-3);
        pair_near(&p, "load", i, hardest / 9.81, loads[i], 1e-3);
    }
    return pair_end(&p);
}
