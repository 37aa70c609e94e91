// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the number of rounds is a constant and the loop over them is unrolled fully.
// Why: the running sum and with it the word of the key are then known when compiling: no index, no load, no counter.
#include "../common.h"

enum { BLOCK = 192, ROUNDS = 32 };

__constant__ unsigned key[4];

#define DELTA 0x9e3779b9u

// XTEA in counter mode: block i of the text is xored with the enciphered number of it.
__global__ void __launch_bounds__(BLOCK)
    telegrams(const uint2 *plain, uint2 *cipher, unsigned nonce, int rounds, int blocks) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= blocks)
        return;
    unsigned v0 = i, v1 = nonce, sum = 0;
#ifdef AFTER
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
#else
    for (int round = 0; round < rounds; round++) {
#endif
        v0 += (((v1 << 4) ^ (v1 >> 5)) + v1) ^ (sum + key[sum & 3]);
        sum += DELTA;
        v1 += (((v0 << 4) ^ (v0 >> 5)) + v0) ^ (sum + key[(sum >> 11) & 3]);
    }
    uint2 text = plain[i];
    cipher[i] = make_uint2(text.x ^ v0, text.y ^ v1);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "telegrams");
    int blocks = p.small ? 5000 : 9000000;
    const unsigned secret[4] = {0x1f83d9abu, 0x5be0cd19u, 0x3c6ef372u, 0xa54ff53au};
    CUDA_CHECK(cudaMemcpyToSymbol(key, secret, sizeof secret));
    const unsigned nonce = 1844;
    std::vector<uint2> plain(blocks);
    unsigned seed = 5;
    for (uint2 &b : plain) {
        b.x = lcg_next(&seed, 1 << 24);
        b.y = lcg_next(&seed, 1 << 24);
    }
    uint2 *d_plain = device_copy_of(plain.data(), blocks);
    uint2 *d_cipher = device_array<uint2>(blocks);
    pair_time(&p,
              [&] { telegrams<<<(blocks + BLOCK - 1) / BLOCK, BLOCK>>>(d_plain, d_cipher, nonce, ROUNDS, blocks); });
    std::vector<uint2> cipher = host_copy_of(d_cipher, blocks);
    for (int i = 0; i < blocks; i += 1 + blocks / 1000) {
        unsigned v0 = i, v1 = nonce, sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            v0 += (((v1 << 4) ^ (v1 >> 5)) + v1) ^ (sum + secret[sum & 3]);
            sum += DELTA;
            v1 += (((v0 << 4) ^ (v0 >> 5)) + v0) ^ (sum + secret[(sum >> 11) & 3]);
        }
        pair_near(&p, "first word", i, plain[i].x ^ v0, cipher[i].x, 0);
        pair_near(&p, "second word", i, plain[i].y ^ v1, cipher[i].y, 0);
    }
    return pair_end(&p);
}
