// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: each tile and its halo is copied asynchronously, one tile ahead of the computation.
// Why: a block walks over a strip of tiles; without copies under way it alternates between waiting and computing.
#include "common.h"

#include <cuda_pipeline.h>

enum { SIDE = 32, HALO = 4, WIDE = SIDE + 2 * HALO, ROWS = 8, BLOCK = SIDE * ROWS };

__constant__ float c_weight[HALO + 1];

static __device__ void fetch(const float *in, float (*tile)[WIDE], int pitch, int x, int y) {
    for (int i = threadIdx.x; i < WIDE * WIDE; i += BLOCK) {
        const float *from = in + (size_t)(y + i / WIDE) * pitch + x + i % WIDE;
#ifdef AFTER
        __pipeline_memcpy_async(&tile[i / WIDE][i % WIDE], from, 4);
#else
        tile[i / WIDE][i % WIDE] = *from;
#endif
    }
#ifdef AFTER
    __pipeline_commit();
#endif
}

// Eighth-order Laplacian of a padded plane; a block computes `tiles` tiles one below the other.
__global__ void __launch_bounds__(BLOCK) wave(const float *in, float *out, int pitch, int tiles) {
    __shared__ float tile[2][WIDE][WIDE];
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE, x = blockIdx.x * SIDE, y = blockIdx.y * tiles * SIDE;
#ifdef AFTER
    fetch(in, tile[0], pitch, x, y);
#endif
    for (int t = 0; t < tiles; t++, y += SIDE) {
        float(*now)[WIDE] = tile[t % 2];
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();
        if (t + 1 < tiles)
            fetch(in, tile[1 - t % 2], pitch, x, y + SIDE);
#else
        fetch(in, now, pitch, x, y);
        __syncthreads();
#endif
        for (int r = ty; r < SIDE; r += ROWS) {
            float sum = 2 * c_weight[0] * now[r + HALO][tx + HALO];
#pragma unroll
            for (int k = 1; k <= HALO; k++)
                sum += c_weight[k] * (now[r + HALO - k][tx + HALO] + now[r + HALO + k][tx + HALO] +
                                      now[r + HALO][tx + HALO - k] + now[r + HALO][tx + HALO + k]);
            out[(size_t)(y + r + HALO) * pitch + x + tx + HALO] = sum;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wave_tile");
    int across = p.small ? 16 : 132, down = p.small ? 8 : 16, tiles = p.small ? 4 : 16;
    int pitch = across * SIDE + 2 * HALO, height = down * tiles * SIDE + 2 * HALO;
    size_t n = (size_t)pitch * height;
    std::vector<float> in = random_floats(n, -1, 1, 1), weight = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.0018f};
    CUDA_CHECK(cudaMemcpyToSymbol(c_weight, weight.data(), sizeof c_weight));
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { wave<<<dim3(across, down), BLOCK>>>(d_in, d_out, pitch, tiles); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int y = HALO; y < height - HALO; y += 17)
        for (int x = HALO; x < pitch - HALO; x += 13) {
            size_t at = (size_t)y * pitch + x;
            double sum = 2.0 * weight[0] * in[at];
            for (int k = 1; k <= HALO; k++)
                sum += weight[k] *
                       ((double)in[at - k] + in[at + k] + in[at - (size_t)k * pitch] + in[at + (size_t)k * pitch]);
            pair_near(&p, "out", at, sum, out[at], 1e-4);
        }
    return pair_end(&p);
}
