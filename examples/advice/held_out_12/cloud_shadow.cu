// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Also: code-reordering
// Change: steps are counted by an integer, and the loop over them is unrolled by eight.
// Why: a loop that counts by a float is not unrolled, so each step waits for its own load.
#include "../common.h"

enum { BLOCK = 128, WIDTH = 128, LAYERS = 64 };

// Light that reaches each point of the ground through a field of clouds that repeats in both directions.
__global__ void cloud_shadow(const float *density, float *light, int side, float3 sun, float reach) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = (float)(i % side) * WIDTH / (float)side, y = (float)(i / side) * WIDTH / (float)side, depth = 0;
#ifdef AFTER
    int steps = (int)(reach * 2.0f);
#pragma unroll 8
    for (int s = 0; s < steps; s++) {
        float t = (float)s * 0.5f;
#else
    for (float t = 0; t < reach; t += 0.5f) {
#endif
        int column = (int)(x + t * sun.x) & (WIDTH - 1), row = (int)(y + t * sun.y) & (WIDTH - 1);
        int layer = min((int)(t * sun.z), LAYERS - 1);
        depth += 0.5f * density[(layer * WIDTH + row) * WIDTH + column];
    }
    light[i] = expf(-depth);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cloud_shadow");
    int side = p.small ? 32 : 256, n = side * side;
    float reach = p.small ? 16.0f : 160.0f;
    float3 sun = {0.75f, 0.5f, 0.375f};
    size_t cells = (size_t)WIDTH * WIDTH * LAYERS;
    std::vector<float> density = random_floats(cells, 0, 0.05f, 1);
    float *d_density = device_copy_of(density.data(), cells), *d_light = device_array<float>(n);
    pair_time(&p, [&] { cloud_shadow<<<n / BLOCK, BLOCK>>>(d_density, d_light, side, sun, reach); });
    std::vector<float> light = host_copy_of(d_light, n);
    for (int i = 0; i < n; i += 53) {
        double depth = 0;
        for (float t = 0; t < reach; t += 0.5f) {
            int column = (int)((float)(i % side) * WIDTH / (float)side + t * sun.x) & (WIDTH - 1);
            int row = (int)((float)(i / side) * WIDTH / (float)side + t * sun.y) & (WIDTH - 1);
            int layer = std::min((int)(t * sun.z), LAYERS - 1);
            depth += 0.5 * density[((size_t)layer * WIDTH + row) * WIDTH + column];
        }
        pair_near(&p, "light", i, exp(-depth), light[i], 1e-4);
    }
    return pair_end(&p);
}
