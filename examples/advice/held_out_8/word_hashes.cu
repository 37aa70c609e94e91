// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Also: global-coalescing
// Change: words are hashed in the order of their lengths.
// Why: a warp goes on until its longest word ends, and most words are short.
#include "../common.h"

enum { BLOCK = 256, LONGEST = 64 };

// FNV hashes of words, which lie one after the other in a text.
__global__ void word_hashes(const unsigned char *text, const int *first, const int *order, unsigned *hashes) {
    int k = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int i = order[k];
#else
    int i = k;
#endif
    unsigned hash = 2166136261u;
    for (int c = first[i]; c < first[i + 1]; c++)
        hash = (hash ^ text[c]) * 16777619u;
    hashes[i] = hash;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "word_hashes");
    int words = p.small ? 1 << 13 : 1 << 21;
    std::vector<int> first(words + 1), order;
    unsigned seed = 1;
    for (int i = 0; i < words; i++)
        first[i + 1] = first[i] + (lcg_next(&seed, 16) ? 2 + lcg_next(&seed, 8) : 20 + lcg_next(&seed, LONGEST - 20));
    std::vector<unsigned char> text(first[words]);
    lcg_fill(text.data(), text.size(), 2, 128);
    std::vector<std::vector<int>> of_length(LONGEST + 1);
    for (int i = 0; i < words; i++)
        of_length[first[i + 1] - first[i]].push_back(i);
    for (const std::vector<int> &same : of_length)
        order.insert(order.end(), same.begin(), same.end());
    unsigned char *d_text = device_copy_of(text.data(), text.size());
    int *d_first = device_copy_of(first.data(), first.size()), *d_order = device_copy_of(order.data(), words);
    unsigned *d_hashes = device_array<unsigned>(words);
    pair_time(&p, [&] { word_hashes<<<words / BLOCK, BLOCK>>>(d_text, d_first, d_order, d_hashes); });
    std::vector<unsigned> hashes = host_copy_of(d_hashes, words);
    for (int i = 0; i < words; i += 97) {
        unsigned hash = 2166136261u;
        for (int c = first[i]; c < first[i + 1]; c++)
            hash = (hash ^ text[c]) * 16777619u;
        pair_near(&p, "hash", i, hash, hashes[i], 0);
    }
    return pair_end(&p);
}
