// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the functions of the other file are inlined, as link-time optimisation does.
// Why: each step calls three small functions.
// Post: Improving GPU Application Performance with NVIDIA CUDA 11.2 Device Link Time Optimization
#include "../common.h"

#ifdef AFTER
#define OF_OTHER_FILE static __forceinline__ __device__
#else
#define OF_OTHER_FILE static __noinline__ __device__
#endif

enum { BLOCK = 128, STEPS = 200 };

OF_OTHER_FILE unsigned next_random(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ (state << 5);
}

OF_OTHER_FILE float cross_section(float energy) { return 0.3f + 1.2f / (1.0f + energy * energy); }

OF_OTHER_FILE float scattered(float energy, float u) { return energy * (0.9f + 0.1f * u); }

// A neutron's way through a slab, until it has left or nothing is left of its energy.
__global__ void walk(float *depths, unsigned seed) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    unsigned state = seed + 7919 * t + 1;
    float x = 0, direction = 1, energy = 4;
    for (int step = 0; step < STEPS; step++) {
        state = next_random(state);
        float u = (state >> 8) * (1.0f / (1 << 24));
        x += direction * u * cross_section(energy);
        energy = scattered(energy, u);
        direction = u > 0.5f ? direction : -direction;
    }
    depths[t] = x;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "linked_walk");
    int n = p.small ? 1 << 13 : 1 << 21;
    float *d_depths = device_array<float>(n);
    pair_time(&p, [&] { walk<<<n / BLOCK, BLOCK>>>(d_depths, 12345); });
    std::vector<float> depths = host_copy_of(d_depths, n);
    for (int t = 0; t < n; t += 100003) {
        unsigned state = 12345 + 7919 * (unsigned)t + 1;
        double x = 0, direction = 1, energy = 4;
        for (int step = 0; step < STEPS; step++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            double u = (state >> 8) * (1.0 / (1 << 24));
            x += direction * u * (0.3 + 1.2 / (1 + energy * energy));
            energy *= 0.9 + 0.1 * u;
            direction = u > 0.5 ? direction : -direction;
        }
        pair_near(&p, "depths", t, x, depths[t], 1e-2);
    }
    return pair_end(&p);
}
