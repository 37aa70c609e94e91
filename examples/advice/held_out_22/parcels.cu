// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of parcels is copied to shared memory asynchronously while the depots weigh the current one.
// Why: a tile is loaded, then waited for at a barrier, and only then used; few warps are there to hide that.
#include "../common.h"

#include <cuda_pipeline.h>

enum { DEPOTS = 128, TILE = 128 };

struct Score {
    float cost, urgent;
    int nearby, unused;
};

// What it would cost to serve all parcels of a city from each of its possible depots; a block per city.
__global__ void choose(const float4 *parcels, const float2 *depots, Score *scores, int tiles, float reach) {
#ifdef AFTER
    __shared__ float4 tile[2][TILE];
#else
    __shared__ float4 tile[1][TILE];
#endif
    const float4 *city = parcels + (size_t)blockIdx.x * tiles * TILE;
    float2 depot = depots[blockIdx.x * DEPOTS + threadIdx.x];
    float cost = 0, urgent = 0;
    int nearby = 0;
#ifdef AFTER
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &city[threadIdx.x], sizeof(float4));
    __pipeline_commit();
#endif
    for (int t = 0; t < tiles; t++) {
#ifdef AFTER
        if (t + 1 < tiles)
            __pipeline_memcpy_async(&tile[(t + 1) & 1][threadIdx.x], &city[(t + 1) * TILE + threadIdx.x],
                                    sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        const float4 *now = tile[t & 1];
#else
        tile[0][threadIdx.x] = city[t * TILE + threadIdx.x];
        const float4 *now = tile[0];
#endif
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++) {
            float4 parcel = now[k];  // x y: where to, z: the weight, w: how urgent
            float way = fabsf(parcel.x - depot.x) + fabsf(parcel.y - depot.y);
            cost += parcel.z * way;
            urgent = fmaxf(urgent, parcel.w * way);
            nearby += way < reach;
        }
        __syncthreads();
    }
    scores[blockIdx.x * DEPOTS + threadIdx.x] = {cost, urgent, nearby, 0};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parcels");
    int cities = p.small ? 8 : 132 * 2, tiles = p.small ? 3 : 120;
    size_t n = (size_t)cities * tiles * TILE, m = (size_t)cities * DEPOTS;
    std::vector<float> parcels = random_floats(4 * n, 0, 1, 1), depots = random_floats(2 * m, 0, 1, 2);
    float4 *d_parcels = device_copy_of((const float4 *)parcels.data(), n);
    float2 *d_depots = device_copy_of((const float2 *)depots.data(), m);
    Score *d_scores = device_array<Score>(m);
    float reach = 0.25f;
    pair_time(&p, [&] { choose<<<cities, DEPOTS>>>(d_parcels, d_depots, d_scores, tiles, reach); });
    std::vector<Score> scores = host_copy_of(d_scores, m);
    for (size_t i = 0; i < m; i += p.small ? 1 : 29) {
        const float *city = &parcels[i / DEPOTS * tiles * TILE * 4];
        double cost = 0, urgent = 0;
        int nearby = 0;
        for (int k = 0; k < tiles * TILE; k++) {
            float way = fabsf(city[4 * k] - depots[2 * i]) + fabsf(city[4 * k + 1] - depots[2 * i + 1]);
            cost += city[4 * k + 2] * way;
            urgent = std::max(urgent, (double)city[4 * k + 3] * way);
            nearby += way < reach;
        }
        pair_near(&p, "cost", i, cost, scores[i].cost, 1e-3);
        pair_near(&p, "urgent", i, urgent, scores[i].urgent, 1e-4);
        pair_near(&p, "nearby", i, nearby, scores[i].nearby, 0);
    }
    return pair_end(&p);
}
