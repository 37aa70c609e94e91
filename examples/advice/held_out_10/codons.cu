// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block counts in shared memory and adds its counts at its end.
// Why: all threads of the GPU count in the same 64 words.
#include "../common.h"

enum { BLOCK = 256, CODONS = 64, EACH = 8 };

// How often each triple of bases occurs in a gene.
__global__ void codons(const unsigned char *bases, unsigned *counts, int threads) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ unsigned own[CODONS];
    for (int c = threadIdx.x; c < CODONS; c += BLOCK)
        own[c] = 0;
    __syncthreads();
#else
    unsigned *own = counts;
#endif
    for (int k = 0; k < EACH; k++) {
        const unsigned char *at = bases + 3 * (size_t)(k * threads + t);
        atomicAdd(&own[at[0] << 4 | at[1] << 2 | at[2]], 1);
    }
#ifdef AFTER
    __syncthreads();
    for (int c = threadIdx.x; c < CODONS; c += BLOCK)
        atomicAdd(&counts[c], own[c]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "codons");
    int n = p.small ? 1 << 14 : 1 << 21;
    std::vector<unsigned char> bases((size_t)n * 3);
    unsigned seed = 1, expected[CODONS] = {0};
    for (unsigned char &b : bases)
        b = (unsigned char)std::max((int)lcg_next(&seed, 6) - 2, 0);
    for (int i = 0; i < n; i++)
        expected[bases[3 * i] << 4 | bases[3 * i + 1] << 2 | bases[3 * i + 2]]++;
    unsigned char *d_bases = device_copy_of(bases.data(), bases.size());
    unsigned *d_counts = device_array<unsigned>(CODONS);
    CUDA_CHECK(cudaMemset(d_counts, 0, CODONS * sizeof(unsigned)));
    pair_time(&p, [&] { codons<<<n / EACH / BLOCK, BLOCK>>>(d_bases, d_counts, n / EACH); });
    std::vector<unsigned> counts = host_copy_of(d_counts, CODONS);
    for (int c = 0; c < CODONS; c++)
        pair_near(&p, "count", c, expected[c] * (unsigned)p.launches, counts[c], 0);
    return pair_end(&p);
}
