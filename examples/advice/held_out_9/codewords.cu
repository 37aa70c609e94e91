// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: shared memory is asked for the code words that there are, not for as many as there may ever be.
// Why: 96 KiB leave room for two blocks in an SM.
#include "../common.h"

enum { BLOCK = 128, WORDS = 1024, MOST = 12288, STEPS = 40 };

// Follows links from code word to code word.
__global__ void codewords(const uint2 *table, const unsigned *starts, unsigned *out) {
    extern __shared__ uint2 words[];
    for (int i = threadIdx.x; i < WORDS; i += BLOCK)
        words[i] = table[i];
    __syncthreads();
    unsigned at = starts[blockIdx.x * BLOCK + threadIdx.x], sum = 0;
    for (int k = 0; k < STEPS; k++) {
        uint2 w = words[at % WORDS];
        sum = (sum << 1 | sum >> 31) ^ w.y;
        at = w.x + (sum & 7);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "codewords");
    int n = p.small ? 1 << 13 : 1 << 20;
#ifdef AFTER
    size_t shared = WORDS * sizeof(uint2);
#else
    size_t shared = MOST * sizeof(uint2);
#endif
    CUDA_CHECK(cudaFuncSetAttribute(codewords, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    std::vector<uint2> table(WORDS);
    std::vector<unsigned> starts(n);
    unsigned seed = 1;
    for (uint2 &w : table)
        w = make_uint2((unsigned)lcg_next(&seed, 1 << 20), (unsigned)lcg_next(&seed, 1 << 20));
    for (unsigned &s : starts)
        s = (unsigned)lcg_next(&seed, 1 << 20);
    uint2 *d_table = device_copy_of(table.data(), WORDS);
    unsigned *d_starts = device_copy_of(starts.data(), n), *d_out = device_array<unsigned>(n);
    pair_time(&p, [&] { codewords<<<n / BLOCK, BLOCK, shared>>>(d_table, d_starts, d_out); });
    std::vector<unsigned> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        unsigned at = starts[i], sum = 0;
        for (int k = 0; k < STEPS; k++) {
            uint2 w = table[at % WORDS];
            sum = (sum << 1 | sum >> 31) ^ w.y;
            at = w.x + (sum & 7);
        }
        pair_near(&p, "sum", i, sum, out[i], 0);
    }
    return pair_end(&p);
}
