// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: sixteen blocks share the dark frame of an amplifier instead of one block having it.
// Why: a telescope's camera has 64 amplifiers, so half of the SMs have nothing to do and the others too few warps.
#include "../common.h"

enum { BLOCK = 512, AMPLIFIERS = 64 };

#ifdef AFTER
enum { SLICES = 16 };
#else
enum { SLICES = 1 };
#endif

typedef unsigned long long Wide;

struct Totals {
    Wide sum, squares, saturated;
};

static __device__ Wide warp_sum(Wide value) {
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    return value;
}

// Sums over the dark frame of each amplifier, of which its bias and its noise come. Totals are 0 at first.
__global__ void __launch_bounds__(BLOCK) dark_frames(const unsigned short *pixels, Totals *totals, int per_amplifier) {
    int slice = per_amplifier / gridDim.x;
    const unsigned short *own = pixels + (size_t)blockIdx.y * per_amplifier + (size_t)blockIdx.x * slice;
    Wide sum = 0, squares = 0, saturated = 0;
    for (int i = threadIdx.x; i < slice; i += BLOCK) {
        unsigned counts = own[i];
        sum += counts;
        squares += counts * counts;
        saturated += counts > 60000;
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    saturated = warp_sum(saturated);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&totals[blockIdx.y].sum, sum);
        atomicAdd(&totals[blockIdx.y].squares, squares);
        atomicAdd(&totals[blockIdx.y].saturated, saturated);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ccd_bias");
    int per_amplifier = p.small ? 16 * BLOCK : 1 << 20;
    size_t n = (size_t)AMPLIFIERS * per_amplifier;
    std::vector<unsigned short> pixels(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++)
        pixels[i] = lcg_next(&seed, 1000) ? 900 + 3 * (i / per_amplifier) + lcg_next(&seed, 60) : 65535;
    unsigned short *d_pixels = device_copy_of(pixels.data(), n);
    Totals *d_totals = device_array<Totals>(AMPLIFIERS);
    dim3 grid(SLICES, AMPLIFIERS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_totals, 0, AMPLIFIERS * sizeof(Totals)));
        dark_frames<<<grid, BLOCK>>>(d_pixels, d_totals, per_amplifier);
    });
    std::vector<Totals> totals = host_copy_of(d_totals, AMPLIFIERS);
    for (int a = 0; a < AMPLIFIERS; a++) {
        Totals expected = {0, 0, 0};
        for (int i = 0; i < per_amplifier; i++) {
            Wide counts = pixels[(size_t)a * per_amplifier + i];
            expected.sum += counts;
            expected.squares += counts * counts;
            expected.saturated += counts > 60000;
        }
        pair_near(&p, "sum", a, expected.sum, totals[a].sum, 0);
        pair_near(&p, "squares", a, expected.squares, totals[a].squares, 0);
        pair_near(&p, "saturated", a, expected.saturated, totals[a].saturated, 0);
    }
    return pair_end(&p);
}
