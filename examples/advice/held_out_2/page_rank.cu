// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: edges, which are used once, are loaded with the streaming hint (__ldcs), and results stored with it (__stcs).
// Why: they evict from the L2 the ranks, which are used eight times.
#include "../common.h"

enum { BLOCK = 256, DEGREE = 8 };

#ifdef AFTER
#define LOAD_ONCE(at) __ldcs(at)
#define STORE_ONCE(at, value) __stcs(at, value)
#else
#define LOAD_ONCE(at) (*(at))
#define STORE_ONCE(at, value) (*(at) = (value))
#endif

// A step of PageRank: every page adds up the shares of the eight pages that name it.
__global__ void page_rank(const int *edges, const float *share, float *rank, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < DEGREE; k++)
        sum += share[LOAD_ONCE(&edges[(size_t)k * n + i])];
    STORE_ONCE(&rank[i], 0.15f / n + 0.85f * sum);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "page_rank");
    int n = p.small ? 1 << 16 : 1 << 22;
    std::vector<int> edges((size_t)n * DEGREE);
    lcg_fill(edges.data(), edges.size(), 1, n);
    std::vector<float> share = random_floats(n, 0, 1, 2);
    int *d_edges = device_copy_of(edges.data(), edges.size());
    float *d_share = device_copy_of(share.data(), n), *d_rank = device_array<float>(n);
    pair_time(&p, [&] { page_rank<<<n / BLOCK, BLOCK>>>(d_edges, d_share, d_rank, n); });
    std::vector<float> rank = host_copy_of(d_rank, n);
    for (int i = 0; i < n; i += 61) {
        double sum = 0;
        for (int k = 0; k < DEGREE; k++)
            sum += share[edges[(size_t)k * n + i]];
        pair_near(&p, "rank", i, 0.15 / n + 0.85 * sum, rank[i], 1e-5);
    }
    return pair_end(&p);
}
