// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-down
// Change: CTAs ask for 100 KiB of shared memory that they do not use: one CTA is resident on an SM, not four.
// Why: each thread goes through a record of its own; 2048 lines are all that an L1 can hold, and more than stay in it.
#include "../common.h"

enum { BLOCK = 512, WORDS = 256 };
#ifdef AFTER
enum { UNUSED = 100 << 10 };
#else
enum { UNUSED = 0 };
#endif

// Fletcher's checksum of each record of 1 KiB.
__global__ void fletcher(const unsigned *records, unsigned *sums) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    const unsigned *record = records + (size_t)i * WORDS;
    unsigned low = 1, high = 0;
    for (int k = 0; k < WORDS; k++) {
        low += record[k];
        high += low;
    }
    sums[i] = low ^ high << 7;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fletcher");
    int n = p.small ? 264 * BLOCK : 528 * BLOCK;
    std::vector<unsigned> records((size_t)n * WORDS);
    lcg_fill(records.data(), records.size(), 1, 1 << 24);
    unsigned *d_records = device_copy_of(records.data(), records.size()), *d_sums = device_array<unsigned>(n);
    CUDA_CHECK(cudaFuncSetAttribute(fletcher, cudaFuncAttributeMaxDynamicSharedMemorySize, UNUSED));
    pair_time(&p, [&] { fletcher<<<n / BLOCK, BLOCK, UNUSED>>>(d_records, d_sums); });
    std::vector<unsigned> sums = host_copy_of(d_sums, n);
    for (int i = 0; i < n; i += 997) {
        unsigned low = 1, high = 0;
        for (int k = 0; k < WORDS; k++) {
            low += records[(size_t)i * WORDS + k];
            high += low;
        }
        pair_near(&p, "sum", i, low ^ high << 7, sums[i], 0);
    }
    return pair_end(&p);
}
