// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: the lanes of a warp find their best score with shuffles, and one of them brings it to the total.
// Why: every thread changes the same word of memory, one after the other.
#include "../common.h"

enum { BLOCK = 256, M = 24 };

__constant__ unsigned char c_pattern[M];

static __host__ __device__ unsigned long long key_of(int score, int where) {
    return (unsigned long long)score << 32 | (unsigned)~where;
}

// Where in a text a pattern fits best: the most equal letters, the first such place.
__global__ void best_match(const unsigned char *text, int places, unsigned long long *best) {
    int i = blockIdx.x * BLOCK + threadIdx.x, score = 0;
    if (i < places)
        for (int k = 0; k < M; k++)
            score += text[i + k] == c_pattern[k];
    unsigned long long key = key_of(score, i);
#ifdef AFTER
    for (int d = 16; d; d /= 2)
        key = max(key, __shfl_down_sync(~0u, key, d));
    if (threadIdx.x % 32 == 0)
        atomicMax(best, key);
#else
    atomicMax(best, key);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "best_match");
    int places = p.small ? 1 << 16 : 1 << 21;
    std::vector<unsigned char> text(places + M), pattern(M);
    lcg_fill(text.data(), text.size(), 1, 4);
    lcg_fill(pattern.data(), M, 77, 4);
    unsigned char *d_text = device_copy_of(text.data(), text.size());
    unsigned long long *d_best = device_array<unsigned long long>(1);
    CUDA_CHECK(cudaMemset(d_best, 0, sizeof *d_best));
    CUDA_CHECK(cudaMemcpyToSymbol(c_pattern, pattern.data(), M));
    pair_time(&p, [&] { best_match<<<places / BLOCK, BLOCK>>>(d_text, places, d_best); });
    unsigned long long best = 0, got = host_copy_of(d_best, 1)[0];
    for (int i = 0; i < places; i++) {
        int score = 0;
        for (int k = 0; k < M; k++)
            score += text[i + k] == pattern[k];
        best = std::max(best, key_of(score, i));
    }
    pair_near(&p, "score", 0, best >> 32, got >> 32, 0);
    pair_near(&p, "place", 0, (unsigned)~best, (unsigned)~got, 0);
    return pair_end(&p);
}
