// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares its painting with eight stolen ones at once instead of one.
// Why: a value of the painting, once in a register, serves eight comparisons; it was loaded anew for each of them.
#include "../common.h"

#ifdef AFTER
enum { ROWS = 8 };
#else
enum { ROWS = 1 };
#endif

enum { BLOCK = 128, COLOURS = 64 };

// How far the colours of each painting of a catalogue are from those of each stolen painting, and how many colours
// the two have in common. The catalogue is stored by colour, the stolen paintings one after another.
__global__ void compare_colours(const float *catalogue, const float *stolen, float *distances, unsigned char *common,
                                int paintings) {
    __shared__ __align__(16) float wanted[ROWS][COLOURS];
    int first = blockIdx.y * ROWS, mine = blockIdx.x * BLOCK + threadIdx.x;
    for (int k = threadIdx.x; k < ROWS * COLOURS; k += BLOCK)
        wanted[k / COLOURS][k % COLOURS] = stolen[first * COLOURS + k];
    __syncthreads();
    if (mine >= paintings)
        return;
    float distance[ROWS] = {};
    int both[ROWS] = {};
#pragma unroll 8
    for (int c = 0; c < COLOURS; c++) {
        float share = catalogue[(size_t)c * paintings + mine];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            distance[r] += fabsf(share - wanted[r][c]);
            both[r] += fminf(share, wanted[r][c]) > 20;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        size_t out = (size_t)(first + r) * paintings + mine;
        distances[out] = distance[r];
        common[out] = both[r];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "paintings");
    int paintings = p.small ? 300 : 16000, thefts = p.small ? 16 : 512;
    std::vector<float> catalogue((size_t)paintings * COLOURS), stolen((size_t)thefts * COLOURS);
    lcg_fill(catalogue.data(), catalogue.size(), 1, 100);  // whole per mille, so that all sums are exact
    lcg_fill(stolen.data(), stolen.size(), 2, 100);
    size_t count = (size_t)thefts * paintings;
    float *d_catalogue = device_copy_of(catalogue.data(), catalogue.size()),
          *d_stolen = device_copy_of(stolen.data(), stolen.size()), *d_distances = device_array<float>(count);
    unsigned char *d_common = device_array<unsigned char>(count);
    dim3 grid((paintings + BLOCK - 1) / BLOCK, thefts / ROWS);
    pair_time(&p, [&] {
        compare_colours<<<grid, BLOCK>>>(d_catalogue, d_stolen, d_distances, d_common, paintings);
    });
    std::vector<float> distances = host_copy_of(d_distances, count);
    std::vector<unsigned char> common = host_copy_of(d_common, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 211) {
        size_t theft = i / paintings, mine = i % paintings;
        float distance = 0;
        int both = 0;
        for (int c = 0; c < COLOURS; c++) {
            float a = catalogue[(size_t)c * paintings + mine], b = stolen[theft * COLOURS + c];
            distance += fabsf(a - b);
            both += std::min(a, b) > 20;
        }
        pair_near(&p, "distances", i, distance, distances[i], 0);
        pair_near(&p, "common", i, both, common[i], 0);
    }
    return pair_end(&p);
}
