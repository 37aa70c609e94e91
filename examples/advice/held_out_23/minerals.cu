// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a thread loads the spectrum of its pixel once, before the loop over the minerals.
// Why: as the maps might be where the spectra are, the compiler must load all bands again after each store; these loads
// are most of what the loop does.
#include "../common.h"

enum { BLOCK = 256, BANDS = 16, MOST = 64 };

__constant__ float pure[MOST][BANDS];

// Maps of how close each pixel of a scanned drill core is to each mineral: 255 is as near as can be. The scanner stores
// its bands one after the other, in counts from 0 to 255.
__global__ void identify(const float *core, unsigned char *maps, int pixels, int minerals) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= pixels)
        return;
#ifdef AFTER
    float spectrum[BANDS];
#pragma unroll
    for (int b = 0; b < BANDS; b++)
        spectrum[b] = core[(size_t)b * pixels + i];
#define COUNTS(b) spectrum[b]
#else
#define COUNTS(b) core[(size_t)(b) * pixels + i]
#endif
    for (int m = 0; m < minerals; m++) {
        float apart = 0;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
            apart += fabsf(COUNTS(b) - pure[m][b]);
        maps[(size_t)m * pixels + i] = (unsigned char)(255 - (int)(apart * (1.0f / BANDS)));
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "minerals");
    int pixels = p.small ? 60 * 75 : 320 * 6000, minerals = p.small ? 9 : 56;
    size_t n = (size_t)pixels * BANDS, out = (size_t)pixels * minerals;
    std::vector<float> core(n), known(MOST * BANDS);
    lcg_fill(core.data(), n, 1, 256);
    lcg_fill(known.data(), known.size(), 2, 256);
    CUDA_CHECK(cudaMemcpyToSymbol(pure, known.data(), known.size() * sizeof(float)));
    float *d_core = device_copy_of(core.data(), n);
    unsigned char *d_maps = device_array<unsigned char>(out);
    int grid = (pixels + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { identify<<<grid, BLOCK>>>(d_core, d_maps, pixels, minerals); });
    std::vector<unsigned char> maps = host_copy_of(d_maps, out);
    for (int i = 0; i < pixels; i += p.small ? 1 : 53) {
        for (int m = 0; m < minerals; m++) {
            int apart = 0;
            for (int b = 0; b < BANDS; b++)
                apart += abs((int)core[(size_t)b * pixels + i] - (int)known[m * BANDS + b]);
            pair_near(&p, "maps", (size_t)m * pixels + i, 255 - apart / BANDS, maps[(size_t)m * pixels + i], 0);
        }
    }
    return pair_end(&p);
}
