// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of the tile in shared memory are 33 words long instead of 32.
// Why: a column of a tile of 32 words a row lies in one bank, so reading it takes 32 turns.
#include "common.h"

enum { TILE = 32, ROWS = 8 };
#ifdef AFTER
enum { PITCH = TILE + 1 };
#else
enum { PITCH = TILE };
#endif

__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[TILE][PITCH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        out[(size_t)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "transpose");
    int n = p.small ? 1024 : 8192;
    std::vector<float> in = random_floats((size_t)n * n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int y = 0; y < n; y += 7)
        for (int x = 0; x < n; x += 13)
            pair_near(&p, "out", (size_t)x * n + y, in[(size_t)y * n + x], out[(size_t)x * n + y], 0);
    return pair_end(&p);
}
