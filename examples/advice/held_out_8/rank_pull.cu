// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a page's rank is summed up in a register and stored once, instead of being added to in global memory.
// Why: the store might change what is loaded next, so that every edge waits for the one before it.
#include "../common.h"

enum { BLOCK = 256 };

// A step of PageRank: each page pulls from those that link to it.
__global__ void rank_pull(const int *first, const int *source, const float *share, float *rank, float damping) {
    int page = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float sum = 0;
    for (int e = first[page]; e < first[page + 1]; e++)
        sum += share[source[e]];
    rank[page] = 1 - damping + damping * sum;
#else
    rank[page] = 1 - damping;
    for (int e = first[page]; e < first[page + 1]; e++)
        rank[page] += damping * share[source[e]];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rank_pull");
    int pages = p.small ? 1 << 12 : 1 << 19;
    std::vector<int> first(pages + 1);
    unsigned seed = 1;
    for (int i = 0; i < pages; i++)
        first[i + 1] = first[i] + 8 + lcg_next(&seed, 16);
    std::vector<int> source(first[pages]);
    for (int i = 0; i < pages; i++)
        for (int e = first[i]; e < first[i + 1]; e++)
            source[e] = (i + pages + lcg_next(&seed, 4096) - 2048) % pages;
    std::vector<float> share = random_floats(pages, 0, 0.1f, 2);
    int *d_first = device_copy_of(first.data(), first.size()), *d_source = device_copy_of(source.data(), source.size());
    float *d_share = device_copy_of(share.data(), pages), *d_rank = device_array<float>(pages);
    pair_time(&p, [&] { rank_pull<<<pages / BLOCK, BLOCK>>>(d_first, d_source, d_share, d_rank, 0.85f); });
    std::vector<float> rank = host_copy_of(d_rank, pages);
    for (int i = 0; i < pages; i += 97) {
        double sum = 0;
        for (int e = first[i]; e < first[i + 1]; e++)
            sum += share[source[e]];
        pair_near(&p, "rank", i, 0.15 + 0.85 * sum, rank[i], 1e-5);
    }
    return pair_end(&p);
}
