// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the kernel for the totals and the one that scales become one kernel.
// Why: a spectrum that a block has just added up is still in the cache when it scales it, and one launch goes.
#include "../common.h"

enum { BLOCK = 256 };

// The sum of the block's values, for all of its threads.
__device__ float block_total(float value) {
    __shared__ float of_warp[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < BLOCK / 32; w++)
        total += of_warp[w];
    return total;
}

// Mass spectra of aromas, one block a spectrum: the square roots of the shares of the total ion current.
#ifdef AFTER
__global__ void normalise(const float *counts, float *shares, int bins) {
    const float *from = counts + (size_t)blockIdx.x * bins;
    float *to = shares + (size_t)blockIdx.x * bins;
    float mine = 0;
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        mine += from[b];
    float scale = 1.0f / block_total(mine);
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        to[b] = sqrtf(from[b] * scale);
}
#else
__global__ void ion_current(const float *counts, float *totals, int bins) {
    const float *from = counts + (size_t)blockIdx.x * bins;
    float mine = 0;
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        mine += from[b];
    float total = block_total(mine);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

__global__ void take_shares(const float *counts, const float *totals, float *shares, int bins) {
    const float *from = counts + (size_t)blockIdx.x * bins;
    float *to = shares + (size_t)blockIdx.x * bins;
    float scale = 1.0f / totals[blockIdx.x];
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        to[b] = sqrtf(from[b] * scale);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aromas");
    int spectra = p.small ? 23 : 24000, bins = p.small ? 700 : 1150;
    std::vector<float> counts = random_floats((size_t)spectra * bins, 1, 5000, 11);
    float *d_counts = device_copy_of(counts.data(), counts.size()), *d_shares = device_array<float>(counts.size());
#ifndef AFTER
    float *d_totals = device_array<float>(spectra);
#endif
    pair_time(&p, [&] {
#ifdef AFTER
        normalise<<<spectra, BLOCK>>>(d_counts, d_shares, bins);
#else
        ion_current<<<spectra, BLOCK>>>(d_counts, d_totals, bins);
        take_shares<<<spectra, BLOCK>>>(d_counts, d_totals, d_shares, bins);
#endif
    });
    std::vector<float> shares = host_copy_of(d_shares, counts.size());
    for (int s = 0; s < spectra; s += 11) {
        double total = 0;
        for (int b = 0; b < bins; b++)
            total += counts[(size_t)s * bins + b];
        for (int b = s % 7; b < bins; b += 97)
            pair_near(&p, "share", (size_t)s * bins + b, sqrt(counts[(size_t)s * bins + b] / total),
                      shares[(size_t)s * bins + b], 1e-4);
    }
    return pair_end(&p);
}
