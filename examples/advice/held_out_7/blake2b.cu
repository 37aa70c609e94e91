// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for two resident CTAs of 256 threads instead of four.
// Why: state and message are 64 words of 32 bits; four CTAs leave 64 registers for them, addresses and all.
#include "../common.h"

#include <cstdint>

enum { BLOCK = 256, BLOCKS_EACH = 4, ROUNDS = 12 };
#ifdef AFTER
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 4 };
#endif

__host__ __device__ static inline uint64_t rotated(uint64_t x, int by) { return x >> by | x << (64 - by); }

__host__ __device__ static inline void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

// The compression of one block of 16 words into the state h.
__host__ __device__ static inline void compress(uint64_t *h, const uint64_t *m, uint64_t counter) {
    const uint64_t start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    const unsigned char sigma[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    uint64_t v[16];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        v[i] = h[i];
        v[i + 8] = start[i];
    }
    v[12] ^= counter;
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned char *s = sigma[round % 10];
#pragma unroll
        for (int i = 0; i < 4; i++)
            mix(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
#pragma unroll
        for (int i = 0; i < 4; i++)
            mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[2 * i + 8]], m[s[2 * i + 9]]);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
}

// Hashes of messages of four blocks, word by word of all threads.
__global__ void __launch_bounds__(BLOCK, RESIDENT) blake2b(const uint64_t *messages, uint64_t *hashes, int n) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    uint64_t h[8] = {0x6a09e667f2bdc948, 2, 3, 4, 5, 6, 7, 8};
    for (int block = 0; block < BLOCKS_EACH; block++) {
        uint64_t m[16];
#pragma unroll
        for (int i = 0; i < 16; i++)
            m[i] = messages[(size_t)(block * 16 + i) * n + t];
        compress(h, m, (block + 1) * 128);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        hashes[(size_t)i * n + t] = h[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "blake2b");
    int n = p.small ? 1 << 11 : 1 << 18;
    std::vector<uint64_t> messages((size_t)n * 16 * BLOCKS_EACH);
    lcg_fill(messages.data(), messages.size(), 1, 1 << 24);
    uint64_t *d_messages = device_copy_of(messages.data(), messages.size()),
             *d_hashes = device_array<uint64_t>((size_t)n * 8);
    pair_time(&p, [&] { blake2b<<<n / BLOCK, BLOCK>>>(d_messages, d_hashes, n); });
    std::vector<uint64_t> hashes = host_copy_of(d_hashes, (size_t)n * 8);
    for (int t = 0; t < n; t += 997) {
        uint64_t h[8] = {0x6a09e667f2bdc948, 2, 3, 4, 5, 6, 7, 8}, m[16];
        for (int block = 0; block < BLOCKS_EACH; block++) {
            for (int i = 0; i < 16; i++)
                m[i] = messages[(size_t)(block * 16 + i) * n + t];
            compress(h, m, (block + 1) * 128);
        }
        for (int i = 0; i < 8; i++)
            pair_near(&p, "equal", (size_t)i * n + t, 1, h[i] == hashes[(size_t)i * n + t], 0);
    }
    return pair_end(&p);
}
