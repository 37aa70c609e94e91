// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-split
// Change: the ten double rounds are a loop instead of being written out for each of eight blocks.
// Why: 8 x 10 double rounds are more code than the instruction caches hold.
#include "../common.h"

enum { BLOCK = 128, BLOCKS = 8 };

static __host__ __device__ __forceinline__ unsigned turn(unsigned v, int by) { return v << by | v >> (32 - by); }

static __host__ __device__ __forceinline__ void quarter(unsigned *s, int a, int b, int c, int d) {
    s[a] += s[b], s[d] = turn(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = turn(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = turn(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = turn(s[b] ^ s[c], 7);
}

static __host__ __device__ __forceinline__ void double_round(unsigned *s) {
    quarter(s, 0, 4, 8, 12), quarter(s, 1, 5, 9, 13), quarter(s, 2, 6, 10, 14), quarter(s, 3, 7, 11, 15);
    quarter(s, 0, 5, 10, 15), quarter(s, 1, 6, 11, 12), quarter(s, 2, 7, 8, 13), quarter(s, 3, 4, 9, 14);
}

static __host__ __device__ __forceinline__ void start(unsigned *s, unsigned key, unsigned counter) {
    const unsigned words[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int i = 0; i < 4; i++)
        s[i] = words[i];
#pragma unroll
    for (int i = 4; i < 12; i++)
        s[i] = key * (2 * i + 1);
    s[12] = counter, s[13] = 0, s[14] = 7, s[15] = 9;
}

// Eight blocks of key stream a thread (ChaCha20), folded to a word each.
__global__ void chacha(const unsigned *keys, unsigned *out, int n) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    unsigned key = keys[t];
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        unsigned s[16], fold = 0;
        start(s, key, b);
#ifdef AFTER
#pragma unroll 1
#else
#pragma unroll
#endif
        for (int r = 0; r < 10; r++)
            double_round(s);
#pragma unroll
        for (int i = 0; i < 16; i++)
            fold = fold * 31 + s[i];
        out[(size_t)b * n + t] = fold;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chacha");
    int n = p.small ? 1 << 14 : 1 << 20;
    std::vector<unsigned> keys(n);
    lcg_fill(keys.data(), n, 1, 1 << 24);
    unsigned *d_keys = device_copy_of(keys.data(), n), *d_out = device_array<unsigned>((size_t)n * BLOCKS);
    pair_time(&p, [&] { chacha<<<n / BLOCK, BLOCK>>>(d_keys, d_out, n); });
    std::vector<unsigned> out = host_copy_of(d_out, (size_t)n * BLOCKS);
    for (int t = 0; t < n; t += 257)
        for (int b = 0; b < BLOCKS; b++) {
            unsigned s[16], fold = 0;
            start(s, keys[t], b);
            for (int r = 0; r < 10; r++)
                double_round(s);
            for (int i = 0; i < 16; i++)
                fold = fold * 31 + s[i];
            pair_near(&p, "out", (size_t)b * n + t, fold, out[(size_t)b * n + t], 0);
        }
    return pair_end(&p);
}
