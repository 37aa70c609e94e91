// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: each warp takes a layer from the top and the one as far from the ground, not two that lie on each other.
// Why: a layer has the more stones the lower it lies; the warp with the two lowest has 31 rows where the first has
// three, and all wait for it at the barrier.
#include "../common.h"

enum { WARPS = 8, LAYERS = 2 * WARPS, ROW = 32, STONES = LAYERS * (LAYERS + 1) / 2 * ROW };

// How near each layer of a pyramid is to being crushed: its weight and all above it, against the strength of its
// stones.
__global__ void survey(const float2 *stones, float *crushed, int pyramids) {
    __shared__ float weights[LAYERS], strengths[LAYERS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int p = blockIdx.x; p < pyramids; p += gridDim.x) {
        const float2 *mine = stones + (size_t)p * STONES;
        for (int turn = 0; turn < 2; turn++) {
#ifdef AFTER
            int layer = turn ? LAYERS - 1 - warp : warp;
#else
            int layer = 2 * warp + turn;
#endif
            int first = layer * (layer + 1) / 2 * ROW;
            float weight = 0, strength = 0;
            for (int row = 0; row <= layer; row++) {
                float2 stone = mine[first + row * ROW + lane];  // x: its size, y: how weathered it is
                weight += stone.x * stone.x * sqrtf(stone.x);
                strength += stone.x * __expf(-2 * stone.y) * (1 + 0.1f * __cosf(6 * stone.y));
            }
            for (int step = 16; step; step /= 2) {
                weight += __shfl_xor_sync(~0u, weight, step);
                strength += __shfl_xor_sync(~0u, strength, step);
            }
            if (!lane) {
                weights[layer] = weight;
                strengths[layer] = strength;
            }
        }
        __syncthreads();
        if (threadIdx.x < LAYERS) {
            float above = 0;
            for (unsigned layer = 0; layer <= threadIdx.x; layer++)
                above += weights[layer];
            crushed[p * LAYERS + threadIdx.x] = above / strengths[threadIdx.x];
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pyramids");
    int pyramids = p.small ? 8 : 132 * 2 * 10, blocks = p.small ? 4 : 132 * 2;
    size_t n = (size_t)pyramids * STONES;
    std::vector<float> stones = random_floats(2 * n, 0, 1, 1);
    float2 *d_stones = device_copy_of((const float2 *)stones.data(), n);
    float *d_crushed = device_array<float>(pyramids * LAYERS);
    pair_time(&p, [&] { survey<<<blocks, 32 * WARPS>>>(d_stones, d_crushed, pyramids); });
    std::vector<float> crushed = host_copy_of(d_crushed, pyramids * LAYERS);
    for (int which = 0; which < pyramids; which += p.small ? 1 : 29) {
        const float *stone = &stones[2 * (size_t)which * STONES];
        double above = 0;
        for (int layer = 0; layer < LAYERS; layer++) {
            double strength = 0;
            for (int k = 0; k < (layer + 1) * ROW; k++, stone += 2) {
                above += stone[0] * stone[0] * sqrt(stone[0]);
                strength += stone[0] * exp(-2.0 * stone[1]) * (1 + 0.1 * cos(6.0 * stone[1]));
            }
            pair_near(&p, "crushed", which * LAYERS + layer, above / strength, crushed[which * LAYERS + layer], 1e-3);
        }
    }
    return pair_end(&p);
}
