// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: indices, weights and results, each used once, are loaded and stored with the streaming hint (__ldcs, __stcs).
// Why: the table fits into the L2 cache, but what streams through evicts it; marked, the stream is evicted first.
#include "common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define LOAD_ONCE(p) __ldcs(p)
#define STORE_ONCE(p, v) __stcs(p, v)
#else
#define LOAD_ONCE(p) (*(p))
#define STORE_ONCE(p, v) (*(p) = (v))
#endif

// Weighted look-up in a table (embedding, interpolation): random reads of the table, all else once and in order.
__global__ void gather(const float *table, const int *index, const float *weight, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        STORE_ONCE(&out[i], LOAD_ONCE(&weight[i]) * table[LOAD_ONCE(&index[i])]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gather");
    int entries = p.small ? 1 << 16 : 6 << 20, n = p.small ? 1 << 19 : 1 << 26;
    std::vector<float> table = random_floats(entries, 0, 1, 1), weight = random_floats(n, 0, 1, 2);
    std::vector<int> index(n);
    unsigned long long state = 3;  // the low bits of lcg_next() repeat too soon for a table of this size
    for (int &i : index) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        i = (int)((state >> 33) % entries);
    }
    float *d_table = device_copy_of(table.data(), entries), *d_weight = device_copy_of(weight.data(), n),
          *d_out = device_array<float>(n);
    int *d_index = device_copy_of(index.data(), n);
    pair_time(&p, [&] { gather<<<n / BLOCK, BLOCK>>>(d_table, d_index, d_weight, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 11)
        pair_near(&p, "out", i, weight[i] * table[index[i]], out[i], 1e-6);
    return pair_end(&p);
}
