// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a CTA counts in shared memory instead of in its own part of global memory.
// Why: the L2 does the atomics of all CTAs.
// Post: GPU Pro Tip: Fast Histograms Using Shared Atomics on Maxwell
#include "../common.h"

enum { NUM_BINS = 256, NUM_PARTS = 1024 };

__global__ void histogram(const uchar4 *in, int width, int height, unsigned *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int nx = blockDim.x * gridDim.x, ny = blockDim.y * gridDim.y;
    int t = threadIdx.x + threadIdx.y * blockDim.x, nt = blockDim.x * blockDim.y,
        g = blockIdx.x + blockIdx.y * gridDim.x;
#ifdef AFTER
    __shared__ unsigned bins[3 * NUM_BINS];
#else
    unsigned *bins = out + g * NUM_PARTS;
#endif
    for (int i = t; i < 3 * NUM_BINS; i += nt)
        bins[i] = 0;
    __syncthreads();
    for (int col = x; col < width; col += nx)
        for (int row = y; row < height; row += ny) {
            uchar4 pixel = in[row * width + col];
            atomicAdd(&bins[NUM_BINS * 0 + pixel.x], 1);
            atomicAdd(&bins[NUM_BINS * 1 + pixel.y], 1);
            atomicAdd(&bins[NUM_BINS * 2 + pixel.z], 1);
        }
#ifdef AFTER
    __syncthreads();
    for (int i = t; i < 3 * NUM_BINS; i += nt)
        out[g * NUM_PARTS + i] = bins[i];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "part_histograms");
    int width = p.small ? 256 : 1920, height = p.small ? 128 : 1080, n = width * height, grid = 16;
    std::vector<uchar4> in(n);
    unsigned seed = 1;
    for (uchar4 &c : in)
        c = make_uchar4((lcg_next(&seed, 256) + lcg_next(&seed, 256)) / 2, lcg_next(&seed, 256), lcg_next(&seed, 64),
                        255);
    uchar4 *d_in = device_copy_of(in.data(), n);
    unsigned *d_out = device_array<unsigned>(grid * grid * NUM_PARTS);
    pair_time(&p, [&] { histogram<<<dim3(grid, grid), dim3(32, 4)>>>(d_in, width, height, d_out); });
    std::vector<unsigned> out = host_copy_of(d_out, grid * grid * NUM_PARTS);
    double expected = 0, got = 0;
    for (uchar4 c : in)
        expected += c.y == 77;
    for (int g = 0; g < grid * grid; g++)
        got += out[g * NUM_PARTS + NUM_BINS + 77];
    pair_near(&p, "count", 77, expected, got, 0);
    return pair_end(&p);
}
