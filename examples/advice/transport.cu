// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the three small functions of the tracking loop are inlined.
// Why: a call costs a jump there and back, moves of arguments, and scheduling across it is impossible.
#include "common.h"

enum { BLOCK = 128, LAYERS = 16 };

#ifdef AFTER
#define SMALL_FUNCTION static __device__ __forceinline__
#else
#define SMALL_FUNCTION static __device__ __noinline__
#endif

struct Layer {
    float total, absorbed;  // cross sections
};
__constant__ Layer c_layers[LAYERS];

SMALL_FUNCTION float uniform(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (*state >> 8) * (1.0f / (1 << 24));
}

SMALL_FUNCTION float free_path(float total, unsigned *state) { return -__logf(uniform(state) + 1e-9f) / total; }

SMALL_FUNCTION int layer_of(float depth) { return min(max((int)depth, 0), LAYERS - 1); }

// Particles through a slab of layers, with absorption weights and isotropic scattering; a tally per thread.
__global__ void transport(float *tally, int particles) {
    unsigned id = blockIdx.x * BLOCK + threadIdx.x, state = id * 2654435761u + 12345;
    float leaked = 0;
    for (int k = 0; k < particles; k++) {
        float depth = 0, direction = 1, weight = 1;
        for (int collision = 0; collision < 24; collision++) {
            Layer layer = c_layers[layer_of(depth)];
            depth += direction * free_path(layer.total, &state);
            if (depth < 0 || depth >= LAYERS)
                break;
            weight *= 1 - layer.absorbed / layer.total;
            direction = 2 * uniform(&state) - 1;
        }
        leaked += depth >= LAYERS ? weight : 0;
    }
    tally[id] = leaked;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "transport");
    int n = 132 * (p.small ? 512 : 2048), particles = p.small ? 1 : 8;
    std::vector<float> layers = random_floats(2 * LAYERS, 0.1f, 0.3f, 1);
    for (int i = 0; i < LAYERS; i++)
        layers[2 * i] += 0.5f;
    CUDA_CHECK(cudaMemcpyToSymbol(c_layers, layers.data(), sizeof c_layers));
    float *d_tally = device_array<float>(n);
    pair_time(&p, [&] { transport<<<n / BLOCK, BLOCK>>>(d_tally, particles); });
    std::vector<float> tally = host_copy_of(d_tally, n);
    double leaked = 0, expected = 0;
    int checked = std::min(n, 40000);
    for (int i = 0; i < checked; i++) {
        unsigned state = i * 2654435761u + 12345;
        auto uniform = [&] {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            return (state >> 8) * (1.0f / (1 << 24));
        };
        leaked += tally[i];
        for (int k = 0; k < particles; k++) {
            float depth = 0, direction = 1, weight = 1;
            for (int collision = 0; collision < 24; collision++) {
                int l = std::min(std::max((int)depth, 0), LAYERS - 1);
                depth += direction * -logf(uniform() + 1e-9f) / layers[2 * l];
                if (depth < 0 || depth >= LAYERS)
                    break;
                weight *= 1 - layers[2 * l + 1] / layers[2 * l];
                direction = 2 * uniform() - 1;
            }
            expected += depth >= LAYERS ? weight : 0;
        }
    }
    pair_near(&p, "leaked", 0, expected, leaked, 2e-2);
    return pair_end(&p);
}
