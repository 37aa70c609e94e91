// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a thread loads sixteen bytes at a time instead of one.
// Why: each byte of a thread's own run is a load of its own that touches 32 sectors.
#include "../common.h"

enum { BLOCK = 256, RUN = 64 };

// How many characters begin in each run of 64 bytes of a text in UTF-8.
__global__ void utf8_count(const unsigned char *text, unsigned char *counts) {
    int i = blockIdx.x * BLOCK + threadIdx.x, count = 0;
#ifdef AFTER
    for (int k = 0; k < RUN / 16; k++) {
        uint4 v = ((const uint4 *)text)[i * (RUN / 16) + k];
        unsigned words[4] = {v.x, v.y, v.z, v.w};
        for (int w = 0; w < 4; w++)
            for (int b = 0; b < 4; b++)
                count += (words[w] >> 8 * b & 0xc0) != 0x80;
    }
#else
    for (int k = 0; k < RUN; k++)
        count += (text[i * RUN + k] & 0xc0) != 0x80;
#endif
    counts[i] = count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "utf8_count");
    int runs = p.small ? 1 << 12 : 1 << 21;
    std::vector<unsigned char> text((size_t)runs * RUN);
    lcg_fill(text.data(), text.size(), 1, 256);
    unsigned char *d_text = device_copy_of(text.data(), text.size()), *d_counts = device_array<unsigned char>(runs);
    pair_time(&p, [&] { utf8_count<<<runs / BLOCK, BLOCK>>>(d_text, d_counts); });
    std::vector<unsigned char> counts = host_copy_of(d_counts, runs);
    for (int i = 0; i < runs; i += 97) {
        int count = 0;
        for (int k = 0; k < RUN; k++)
            count += (text[(size_t)i * RUN + k] & 0xc0) != 0x80;
        pair_near(&p, "count", i, count, counts[i], 0);
    }
    return pair_end(&p);
}
