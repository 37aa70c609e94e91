// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each CTA counts in shared memory and adds its counts to the histogram at its end.
// Why: most pixels have one of few levels, so threads all over the GPU count in the same words of the L2.
#include "common.h"

enum { BLOCK = 256, LEVELS = 256, SPREAD = 8 };

__global__ void gray_levels(const unsigned char *image, unsigned *histogram, int n) {
    int step = gridDim.x * BLOCK;
#ifdef AFTER
    __shared__ unsigned counts[LEVELS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += step)
        atomicAdd(&counts[image[i]], 1);
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x], counts[threadIdx.x]);
#else
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += step)
        atomicAdd(&histogram[image[i]], 1);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gray_levels");
    int n = p.small ? 1 << 18 : 1 << 24, blocks = 528;
    std::vector<unsigned char> image((size_t)n);
    std::vector<unsigned> expected(LEVELS);
    unsigned state = 1;
    for (unsigned char &pixel : image) { // the mean of eight draws: a bell
        unsigned sum = 0;
        for (int k = 0; k < SPREAD; k++)
            sum += (state = state * 1664525u + 1013904223u) >> 24;
        expected[pixel = (unsigned char)(sum / SPREAD)]++;
    }
    unsigned char *d_image = device_copy_of(image.data(), n);
    unsigned *d_histogram = device_array<unsigned>(LEVELS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_histogram, 0, LEVELS * sizeof(unsigned)));
        gray_levels<<<blocks, BLOCK>>>(d_image, d_histogram, n);
    });
    std::vector<unsigned> got = host_copy_of(d_histogram, LEVELS);
    for (int level = 0; level < LEVELS; level++)
        pair_near(&p, "level", level, expected[level], got[level], 0);
    return pair_end(&p);
}
