// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: an entry of the decoding table is two bytes (symbol, length) instead of two ints.
// Why: tables of 64 KiB leave room for three CTAs on an SM, and every lane waits for its table and its stream.
#include "../common.h"

enum { BLOCK = 128, PEEK = 13, SYMBOLS = 128 };

#ifdef AFTER
struct Entry {
    unsigned char symbol, length;
};
#else
struct Entry {
    int symbol, length;
};
#endif

// Decodes one stream for each thread, as decoders of images do between restart markers, and keeps a checksum.
__global__ void huffman(const Entry *table, const unsigned *streams, unsigned *sums, int n) {
    extern __shared__ Entry entries[];
    for (int e = threadIdx.x; e < 1 << PEEK; e += BLOCK)
        entries[e] = table[e];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x, next = 0;
    unsigned long long bits = 0;
    int have = 0;
    unsigned sum = 0;
    for (int k = 0; k < SYMBOLS; k++) {
        if (have < PEEK) {
            bits |= (unsigned long long)streams[(size_t)next++ * n + i] << have;
            have += 32;
        }
        Entry entry = entries[bits & ((1 << PEEK) - 1)];
        bits >>= entry.length;
        have -= entry.length;
        sum = sum * 31 + entry.symbol;
    }
    sums[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "huffman");
    int n = p.small ? 1 << 12 : 132 * 12 * BLOCK * 4, words = SYMBOLS * PEEK / 32 + 2;
    std::vector<Entry> table(1 << PEEK);
    for (int e = 0; e < 1 << PEEK; e++) {
        int length = 2;  // the code's class is its run of ones, three bits of the symbol follow
        while (length < PEEK - 3 && (e >> (length - 2) & 1))
            length++;
        length = length + 2 > PEEK ? PEEK : length + 2;
        table[e].symbol = (unsigned char)(length * 16 + (e >> (length - 3) & 7));
        table[e].length = length;
    }
    std::vector<unsigned> streams((size_t)words * n);
    unsigned seed = 1;
    for (unsigned &word : streams)
        word = lcg_next(&seed, 1 << 16) << 16 | lcg_next(&seed, 1 << 16);
    Entry *d_table = device_copy_of(table.data(), table.size());
    unsigned *d_streams = device_copy_of(streams.data(), streams.size()), *d_sums = device_array<unsigned>(n);
    int shared = sizeof(Entry) << PEEK;
    CUDA_CHECK(cudaFuncSetAttribute(huffman, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    pair_time(&p, [&] { huffman<<<n / BLOCK, BLOCK, shared>>>(d_table, d_streams, d_sums, n); });
    std::vector<unsigned> sums = host_copy_of(d_sums, n);
    for (int i = 0; i < n; i += 499) {
        unsigned long long bits = 0;
        unsigned sum = 0;
        int have = 0, next = 0;
        for (int k = 0; k < SYMBOLS; k++) {
            if (have < PEEK)
                bits |= (unsigned long long)streams[(size_t)next++ * n + i] << have, have += 32;
            Entry entry = table[bits & ((1 << PEEK) - 1)];
            bits >>= entry.length, have -= entry.length;
            sum = sum * 31 + entry.symbol;
        }
        pair_near(&p, "sum", i, sum, sums[i], 0);
    }
    return pair_end(&p);
}
