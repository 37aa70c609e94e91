// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Also: code-reordering
// Change: the next tile of edges is copied to shared memory by asynchronous copies while this one is compared.
// Why: the copy goes through registers right before the barrier; the whole block waits for it, tile by tile.
#include "../common.h"

#include <cuda_pipeline.h>

enum { SAMPLES = 24, QUADS = SAMPLES / 4, BLOCK = 256, TILE = 8 };

// For each edge of the jigsaw's pieces, the loose edge that closes the gap best: a knob (+) fits into a hole (-).
__global__ void __launch_bounds__(BLOCK) fit(const float4 *edges, const float4 *loose, float *gaps, int *partners,
                                             int tiles) {
    __shared__ float4 tile[2][TILE * QUADS];
    int t = threadIdx.x, edge = blockIdx.x * BLOCK + t;
    float4 own[QUADS];
    for (int q = 0; q < QUADS; q++)
        own[q] = edges[(size_t)edge * QUADS + q];
    float best = 1e30f;
    int partner = -1;
#ifdef AFTER
    if (t < TILE * QUADS)
        __pipeline_memcpy_async(&tile[0][t], &loose[t], sizeof(float4));
    __pipeline_commit();
#endif
    for (int n = 0; n < tiles; n++) {
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();
        if (t < TILE * QUADS && n + 1 < tiles)
            __pipeline_memcpy_async(&tile[(n + 1) % 2][t], &loose[(n + 1) * TILE * QUADS + t], sizeof(float4));
        __pipeline_commit();
#else
        if (t < TILE * QUADS)
            tile[n % 2][t] = loose[n * TILE * QUADS + t];
        __syncthreads();
#endif
        for (int c = 0; c < TILE; c++) {
            float gap = 0;
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                float4 other = tile[n % 2][c * QUADS + q];
                float x = own[q].x + other.x, y = own[q].y + other.y, z = own[q].z + other.z, w = own[q].w + other.w;
                gap += x * x + y * y + z * z + w * w;
            }
            if (gap < best) {
                best = gap;
                partner = n * TILE + c;
            }
        }
    }
    gaps[edge] = best;
    partners[edge] = partner;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jigsaw");
    int blocks = p.small ? 1 : 132, tiles = p.small ? 2 : 512;
    int n = blocks * BLOCK, candidates = tiles * TILE;
    std::vector<float> edges = random_floats((size_t)n * SAMPLES, -1, 1, 1),
                       loose = random_floats((size_t)candidates * SAMPLES, -1, 1, 2);
    float4 *d_edges = (float4 *)device_copy_of(edges.data(), edges.size()),
           *d_loose = (float4 *)device_copy_of(loose.data(), loose.size());
    float *d_gaps = device_array<float>(n);
    int *d_partners = device_array<int>(n);
    pair_time(&p, [&] { fit<<<blocks, BLOCK>>>(d_edges, d_loose, d_gaps, d_partners, tiles); });
    std::vector<float> gaps = host_copy_of(d_gaps, n);
    std::vector<int> partners = host_copy_of(d_partners, n);
    for (int e = 0; e < n; e += p.small ? 7 : 331) {
        double best = 1e30, chosen = -1;
        for (int c = 0; c < candidates; c++) {
            double gap = 0;
            for (int s = 0; s < SAMPLES; s++) {
                double sum = (double)edges[(size_t)e * SAMPLES + s] + loose[(size_t)c * SAMPLES + s];
                gap += sum * sum;
            }
            best = std::min(best, gap);
            if (c == partners[e])
                chosen = gap;
        }
        pair_near(&p, "gap", e, best, gaps[e], 1e-4);
        pair_near(&p, "partner's gap", e, best, chosen, 1e-4);
    }
    return pair_end(&p);
}
