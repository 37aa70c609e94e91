// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1056 blocks instead of 96 share the fingerprints in a grid-stride loop.
// Why: 96 blocks leave 36 of an H200's 132 SMs without work and give the others two warps to a scheduler.
#include "../common.h"

enum { BLOCK = 256, WORDS = 8 };
#ifdef AFTER
enum { BLOCKS = 1056 };
#else
enum { BLOCKS = 96 };
#endif

__constant__ unsigned c_query[WORDS];

// In how many bits each fingerprint of 256 bits differs from one.
__global__ void hamming(const unsigned *prints, unsigned char *distance, int n) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        int bits = 0;
        for (int w = 0; w < WORDS; w++)
            bits += __popc(prints[(size_t)w * n + i] ^ c_query[w]);
        distance[i] = (unsigned char)(bits < 255 ? bits : 255);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hamming");
    int n = p.small ? 1 << 18 : 1 << 22;
    std::vector<unsigned> prints((size_t)n * WORDS), query(WORDS);
    unsigned seed = 4;
    for (unsigned &w : prints)
        w = lcg_next(&seed, 1 << 24) * 2654435761u;
    for (unsigned &w : query)
        w = lcg_next(&seed, 1 << 24) * 2654435761u;
    unsigned *d_prints = device_copy_of(prints.data(), prints.size());
    unsigned char *d_distance = device_array<unsigned char>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(c_query, query.data(), sizeof c_query));
    pair_time(&p, [&] { hamming<<<BLOCKS, BLOCK>>>(d_prints, d_distance, n); });
    std::vector<unsigned char> distance = host_copy_of(d_distance, n);
    for (int i = 0; i < n; i += 19) {
        int bits = 0;
        for (int w = 0; w < WORDS; w++)
            bits += __builtin_popcount(prints[(size_t)w * n + i] ^ query[w]);
        pair_near(&p, "distance", i, std::min(bits, 255), distance[i], 0);
    }
    return pair_end(&p);
}
