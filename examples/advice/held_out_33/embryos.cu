// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next plane is copied into a second tile with cp.async while the present one is searched, instead of
// through registers into the only tile before it is searched.
// Why: a block that loads, waits, stores and only then computes leaves the memory idle while it computes, and there are
// two blocks on an SM to hide that.
#include "../common.h"

#include <cuda_pipeline.h>

enum {
    TILE_X = 64,
    TILE_Y = 32,
    HALO = 4,
    BLOCK = 256,
    PER_THREAD = TILE_X * TILE_Y / BLOCK,
    WIDTH = TILE_X + 2 * HALO,
    HEIGHT = TILE_Y + 2 * HALO,
    VECTORS = WIDTH / 4  // of a row
};

#ifdef AFTER
enum { BUFFERS = 2 };
#else
enum { BUFFERS = 1 };
#endif

typedef float Tile[HEIGHT][WIDTH];

// `from` is the upper left corner of the tile with its halo; planes have a border of HALO, so that there is one.
static __device__ void copy_tile(Tile &tile, const float *from, int pitch) {
    for (int i = threadIdx.x; i < VECTORS * HEIGHT; i += BLOCK) {
        int row = i / VECTORS, column = i % VECTORS * 4;
#ifdef AFTER
        __pipeline_memcpy_async(&tile[row][column], &from[(size_t)row * pitch + column], 16);
#else
        *(float4 *)&tile[row][column] = *(const float4 *)&from[(size_t)row * pitch + column];
#endif
    }
}

// How much a spot of a nucleus's size is brighter than the ring around it.
static __device__ float blob(const Tile &t, int y, int x) {
    float core = 2.0f * t[y][x] + t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1];
    float ring = t[y - 4][x] + t[y + 4][x] + t[y][x - 4] + t[y][x + 4] + t[y - 3][x - 3] + t[y - 3][x + 3] +
                 t[y + 3][x - 3] + t[y + 3][x + 3];
    return core * (1.0f / 6) - ring * 0.125f;
}

// Projects a stack of light-sheet planes: the strongest blob along z over each pixel, and its plane.
__global__ void __launch_bounds__(BLOCK)
    embryos(const float *__restrict__ stack, float *__restrict__ strongest, int *__restrict__ where, int columns,
            int rows, int planes) {
    __shared__ __align__(16) Tile tiles[BUFFERS];
    int pitch = columns + 2 * HALO, x = threadIdx.x % TILE_X, y = threadIdx.x / TILE_X;
    size_t plane = (size_t)pitch * (rows + 2 * HALO);
    const float *from = stack + (size_t)blockIdx.y * TILE_Y * pitch + blockIdx.x * TILE_X;
    float best[PER_THREAD];
    int best_z[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        best[k] = 0;
        best_z[k] = -1;
    }
#ifdef AFTER
    copy_tile(tiles[0], from, pitch);
    __pipeline_commit();
#endif
    for (int z = 0; z < planes; z++) {
#ifdef AFTER
        if (z + 1 < planes)
            copy_tile(tiles[(z + 1) % BUFFERS], from + (z + 1) * plane, pitch);
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        copy_tile(tiles[0], from + z * plane, pitch);
#endif
        __syncthreads();
        const Tile &tile = tiles[z % BUFFERS];
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            float response = blob(tile, y + k * (BLOCK / TILE_X) + HALO, x + HALO);
            if (response > best[k]) {
                best[k] = response;
                best_z[k] = z;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        size_t at = ((size_t)blockIdx.y * TILE_Y + y + k * (BLOCK / TILE_X)) * columns + blockIdx.x * TILE_X + x;
        strongest[at] = best[k];
        where[at] = best_z[k];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "embryos");
    int columns = 16 * TILE_X, rows = 16 * TILE_Y, planes = p.small ? 5 : 100, pitch = columns + 2 * HALO;
    size_t plane = (size_t)pitch * (rows + 2 * HALO), pixels = (size_t)columns * rows;
    std::vector<float> stack = random_floats(plane * planes, 0, 100, 1);
    float *d_stack = device_copy_of(stack.data(), stack.size()), *d_strongest = device_array<float>(pixels);
    int *d_where = device_array<int>(pixels);
    dim3 grid(columns / TILE_X, rows / TILE_Y);
    pair_time(&p, [&] { embryos<<<grid, BLOCK>>>(d_stack, d_strongest, d_where, columns, rows, planes); });
    std::vector<float> strongest = host_copy_of(d_strongest, pixels);
    std::vector<int> where = host_copy_of(d_where, pixels);
    for (size_t i = 0; i < pixels; i += 211) {
        double best = 0, chosen = 0;
        for (int z = 0; z < planes; z++) {
            const float *t = &stack[z * plane + (i / columns + HALO) * pitch + i % columns + HALO];
            double core = 2.0 * t[0] + t[-pitch] + t[pitch] + t[-1] + t[1];
            double ring = (double)t[-4 * pitch] + t[4 * pitch] + t[-4] + t[4] + t[-3 * pitch - 3] + t[-3 * pitch + 3] +
                          t[3 * pitch - 3] + t[3 * pitch + 3];
            double response = core / 6 - ring / 8;
            best = std::max(best, response);
            if (z == where[i])
                chosen = response;
        }
        pair_near(&p, "strongest", i, best, strongest[i], 1e-4);
        pair_near(&p, "response at the plane", i, best, chosen, 1e-4);
    }
    return pair_end(&p);
}
