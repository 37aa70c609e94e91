// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of a matrix in shared memory are a word longer.
// Why: each lane works on a row of its own, and all rows begin in the same bank.
#include "../common.h"

enum { SIZE = 32, WARPS = 4, BLOCK = WARPS * 32 };

#ifdef AFTER
enum { PITCH = SIZE + 1 };
#else
enum { PITCH = SIZE };
#endif

// Factors many small matrices into lower and upper triangles, a warp each, without pivoting.
__global__ void lu_tiles(const float *in, float *out) {
    __shared__ float tiles[WARPS][SIZE * PITCH];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t base = ((size_t)blockIdx.x * WARPS + warp) * SIZE * SIZE;
    float *tile = tiles[warp];
    for (int row = 0; row < SIZE; row++)
        tile[row * PITCH + lane] = in[base + row * SIZE + lane];
    __syncwarp();
    for (int k = 0; k + 1 < SIZE; k++) {
        if (lane > k) {
            float factor = tile[lane * PITCH + k] / tile[k * PITCH + k];
            tile[lane * PITCH + k] = factor;
            for (int c = k + 1; c < SIZE; c++)
                tile[lane * PITCH + c] -= factor * tile[k * PITCH + c];
        }
        __syncwarp();
    }
    for (int row = 0; row < SIZE; row++)
        out[base + row * SIZE + lane] = tile[row * PITCH + lane];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lu_tiles");
    int blocks = p.small ? 64 : 1 << 11;
    size_t n = (size_t)blocks * WARPS * SIZE * SIZE;
    std::vector<float> in = random_floats(n, -1, 1, 1);
    for (size_t i = 0; i < n; i++)
        if (i % SIZE == i / SIZE % SIZE)
            in[i] += 24;
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { lu_tiles<<<blocks, BLOCK>>>(d_in, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int m = 0; m < blocks * WARPS; m += 37) {
        const float *lu = &out[(size_t)m * SIZE * SIZE];
        for (int at = 0; at < SIZE * SIZE; at += 7) {
            int row = at / SIZE, column = at % SIZE;
            double sum = 0;
            for (int k = 0; k <= std::min(row, column); k++)
                sum += (k == row ? 1.0 : (double)lu[row * SIZE + k]) * lu[k * SIZE + column];
            pair_near(&p, "product", m, in[(size_t)m * SIZE * SIZE + at], sum, 1e-4);
        }
    }
    return pair_end(&p);
}
