// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block counts in shared memory and adds its counts at its end.
// Why: all threads of the GPU count in the same twenty words.
#include "../common.h"

enum { BLOCK = 256, GROUPS = 20 };

// How many people are of each age group.
__global__ void age_groups(const unsigned char *ages, unsigned *counts, int n) {
#ifdef AFTER
    __shared__ unsigned own[GROUPS];
    if (threadIdx.x < GROUPS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&own[ages[i] / 5], 1);
    __syncthreads();
    if (threadIdx.x < GROUPS)
        atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
#else
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&counts[ages[i] / 5], 1);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "age_groups");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<unsigned char> ages(n);
    unsigned seed = 1, expected[GROUPS] = {0};
    for (unsigned char &a : ages) {
        a = (unsigned char)((lcg_next(&seed, 1 << 16) % 100 + lcg_next(&seed, 1 << 16) % 100) / 2);
        expected[a / 5]++;
    }
    unsigned char *d_ages = device_copy_of(ages.data(), n);
    unsigned *d_counts = device_array<unsigned>(GROUPS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_counts, 0, GROUPS * 4));
        age_groups<<<1056, BLOCK>>>(d_ages, d_counts, n);
    });
    std::vector<unsigned> counts = host_copy_of(d_counts, GROUPS);
    for (int g = 0; g < GROUPS; g++)
        pair_near(&p, "count", g, expected[g], counts[g], 0);
    return pair_end(&p);
}
