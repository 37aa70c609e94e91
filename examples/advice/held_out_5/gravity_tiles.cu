// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of bodies is copied asynchronously while this one is used.
// Why: with one CTA in an SM everybody waits for each tile.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, TILE = 32 };

// Attraction of small tiles of bodies on targets; each CTA has a list of tiles, as a tree code's.
__global__ void gravity_tiles(const float4 *targets, const float4 *bodies, const int *lists, float *field, int tiles) {
    __shared__ float4 shared[2][TILE];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    const int *list = lists + (size_t)blockIdx.x * tiles;
    float4 at = targets[i];
    float sum = 0;
#ifdef AFTER
    if (t < TILE)
        __pipeline_memcpy_async(&shared[0][t], &bodies[list[0] * TILE + t], sizeof(float4));
    __pipeline_commit();
#endif
    for (int k = 0; k < tiles; k++) {
#ifdef AFTER
        int now = k % 2;
        if (k + 1 < tiles && t < TILE)
            __pipeline_memcpy_async(&shared[1 - now][t], &bodies[list[k + 1] * TILE + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        int now = 0;
        if (t < TILE)
            shared[0][t] = bodies[list[k] * TILE + t];
#endif
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            float4 b = shared[now][j];
            float dx = b.x - at.x, dy = b.y - at.y, dz = b.z - at.z;
            sum += b.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        }
        __syncthreads();
    }
    field[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gravity_tiles");
    int ctas = p.small ? 33 : 132 * 2, tiles = p.small ? 8 : 256, sources = p.small ? 1 << 9 : 1 << 16;
    std::vector<float> targets = random_floats((size_t)4 * ctas * BLOCK, 0, 1, 1),
                       bodies = random_floats((size_t)4 * sources * TILE, 0, 1, 2);
    std::vector<int> lists((size_t)ctas * tiles);
    unsigned seed = 3;
    for (int &l : lists)
        l = (int)lcg_next(&seed, sources);
    float4 *d_targets = device_copy_of((const float4 *)targets.data(), (size_t)ctas * BLOCK),
           *d_bodies = device_copy_of((const float4 *)bodies.data(), (size_t)sources * TILE);
    int *d_lists = device_copy_of(lists.data(), lists.size());
    float *d_field = device_array<float>((size_t)ctas * BLOCK);
    pair_time(&p, [&] { gravity_tiles<<<ctas, BLOCK>>>(d_targets, d_bodies, d_lists, d_field, tiles); });
    std::vector<float> field = host_copy_of(d_field, (size_t)ctas * BLOCK);
    for (int i = 0; i < ctas * BLOCK; i += 1009) {
        double sum = 0;
        for (int k = 0; k < tiles * TILE; k++) {
            const float *b = &bodies[4 * ((size_t)lists[(size_t)(i / BLOCK) * tiles + k / TILE] * TILE + k % TILE)];
            const float *at = &targets[4 * (size_t)i];
            double dx = b[0] - at[0], dy = b[1] - at[1], dz = b[2] - at[2];
            sum += b[3] / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
        }
        pair_near(&p, "field", i, sum, field[i], 1e-3);
    }
    return pair_end(&p);
}
