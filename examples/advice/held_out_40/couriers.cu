// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the rounds of the cipher is unrolled; it was kept rolled to hold the code small.
// Why: the sum of deltas, and which word of the key it selects, depend on the round only: unrolled, they are constants
//      of the instructions; in the loop they are computed, and the key's words fetched, in every round.
#include "../common.h"

enum { BLOCK = 256, ROUNDS = 32 };
#ifdef AFTER
enum { UNROLLED = ROUNDS };
#else
enum { UNROLLED = 1 };
#endif

#define DELTA 0x9E3779B9u

// The key of the office.
__constant__ unsigned key[4];

// XTEA.
__device__ static inline uint2 encipher(uint2 v) {
    unsigned sum = 0;
#pragma unroll UNROLLED
    for (int r = 0; r < ROUNDS; r++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + key[sum & 3]);
        sum += DELTA;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + key[sum >> 11 & 3]);
    }
    return v;
}

// Counter mode: the same call seals a message and opens it. A courier's message of `length` blocks has a nonce.
__global__ void __launch_bounds__(BLOCK) seal(const uint2 *text, uint2 *sealed, const unsigned *nonces, int length) {
    int block = blockIdx.x * BLOCK + threadIdx.x;
    if (block >= length)
        return;
    size_t at = (size_t)blockIdx.y * length + block;
    uint2 pad = encipher(make_uint2(block, nonces[blockIdx.y]));
    uint2 plain = text[at];
    sealed[at] = make_uint2(plain.x ^ pad.x, plain.y ^ pad.y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "couriers");
    int messages = p.small ? 3 : 512, length = p.small ? 700 : 32000;
    size_t all = (size_t)messages * length;
    unsigned office[4] = {0x2b7e1516u, 0x28aed2a6u, 0xabf71588u, 0x09cf4f3cu}, seed = 4;
    CUDA_CHECK(cudaMemcpyToSymbol(key, office, sizeof office));
    std::vector<unsigned> nonces(messages);
    for (unsigned &n : nonces)
        n = lcg_next(&seed, 1 << 24);
    std::vector<uint2> text(all);
    for (uint2 &t : text) {
        t.x = lcg_next(&seed, 1 << 24) << 8;
        t.y = t.x * 2654435761u;
    }
    uint2 *d_text = device_copy_of(text.data(), all), *d_sealed = device_array<uint2>(all);
    unsigned *d_nonces = device_copy_of(nonces.data(), messages);
    dim3 grid((length + BLOCK - 1) / BLOCK, messages);
    pair_time(&p, [&] { seal<<<grid, BLOCK>>>(d_text, d_sealed, d_nonces, length); });
    std::vector<uint2> sealed = host_copy_of(d_sealed, all);
    for (size_t at = 0; at < all; at += p.small ? 1 : 61) {
        unsigned x = (unsigned)(at % length), y = nonces[at / length], sum = 0;
        for (int r = 0; r < ROUNDS; r++) {
            x += ((y << 4 ^ y >> 5) + y) ^ (sum + office[sum & 3]);
            sum += DELTA;
            y += ((x << 4 ^ x >> 5) + x) ^ (sum + office[sum >> 11 & 3]);
        }
        pair_near(&p, "sealed.x", at, text[at].x ^ x, sealed[at].x, 0);
        pair_near(&p, "sealed.y", at, text[at].y ^ y, sealed[at].y, 0);
    }
    return pair_end(&p);
}
