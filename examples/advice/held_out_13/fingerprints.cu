// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of the tile are 33 floats apart instead of 32.
// Why: while each lane lifts a row of its own, all lanes of a warp are at the same column and so at the same bank.
#include "../common.h"

enum { TILE = 32, TILES_PER_BLOCK = 4 };

#ifdef AFTER
enum { PITCH = TILE + 1 };
#else
enum { PITCH = TILE };
#endif

// One step of the 5/3 wavelet in place: even values become means, odd ones details.
static __host__ __device__ inline void lift(float *values, int step) {
    for (int k = 1; k < TILE; k += 2)
        values[k * step] -= 0.5f * (values[(k - 1) * step] + values[(k + 1 < TILE ? k + 1 : k - 1) * step]);
    for (int k = 0; k < TILE; k += 2)
        values[k * step] += 0.25f * (values[(k ? k - 1 : 1) * step] + values[(k + 1) * step]);
}

// Transforms tiles of a fingerprint, rows first, and quantises them.
__global__ void wavelet_tiles(const float *print, signed char *coded, float scale) {
    __shared__ float tiles[TILES_PER_BLOCK][TILE * PITCH];
    float *tile = tiles[threadIdx.y];
    int lane = threadIdx.x;
    size_t first = ((size_t)blockIdx.x * TILES_PER_BLOCK + threadIdx.y) * TILE * TILE;
    for (int row = 0; row < TILE; row++)
        tile[row * PITCH + lane] = print[first + row * TILE + lane];
    __syncwarp();
    lift(tile + lane * PITCH, 1);
    __syncwarp();
    lift(tile + lane, PITCH);
    for (int row = 0; row < TILE; row++) {
        float value = tile[row * PITCH + lane] * scale;
        coded[first + row * TILE + lane] = (signed char)fminf(fmaxf(rintf(value), -127.0f), 127.0f);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fingerprints");
    int tiles = p.small ? 32 : 1 << 13;
    std::vector<float> print = random_floats((size_t)tiles * TILE * TILE, 0, 255, 1);
    float *d_print = device_copy_of(print.data(), print.size()), scale = 0.37f;
    signed char *d_coded = device_array<signed char>(print.size());
    dim3 block(TILE, TILES_PER_BLOCK);
    pair_time(&p, [&] { wavelet_tiles<<<tiles / TILES_PER_BLOCK, block>>>(d_print, d_coded, scale); });
    std::vector<signed char> coded = host_copy_of(d_coded, print.size());
    for (int t = 0; t < tiles; t += 31) {
        std::vector<float> tile(&print[(size_t)t * TILE * TILE], &print[(size_t)t * TILE * TILE] + TILE * TILE);
        for (int row = 0; row < TILE; row++)
            lift(&tile[row * TILE], 1);
        for (int column = 0; column < TILE; column++)
            lift(&tile[column], TILE);
        for (int i = 0; i < TILE * TILE; i += 7) {
            // A value halfway between two codes may be rounded either way.
            double value = std::min(std::max(tile[i] * (double)scale, -127.0), 127.0);
            pair_near(&p, "rounding", (size_t)t * TILE * TILE + i, 0,
                      std::max(fabs(value - coded[(size_t)t * TILE * TILE + i]), 0.5) - 0.5, 1e-3);
        }
    }
    return pair_end(&p);
}
