// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-split
// Change: the 24 rounds of the permutation are a loop instead of being written out three times over.
// Why: the code of the unrolled kernel exceeds the instruction cache; warps wait for their next instruction.
#include "common.h"

typedef unsigned long long u64;
enum { LANES = 25, ROUNDS = 24, BLOCK = 128, STAGES = 3 };

#define ROUND_CONSTANTS                                                                                 \
    {                                                                                                   \
        0x0000000000000001ull, 0x0000000000008082ull, 0x800000000000808aull, 0x8000000080008000ull,     \
            0x000000000000808bull, 0x0000000080000001ull, 0x8000000080008081ull, 0x8000000000008009ull, \
            0x000000000000008aull, 0x0000000000000088ull, 0x0000000080008009ull, 0x000000008000000aull, \
            0x000000008000808bull, 0x800000000000008bull, 0x8000000000008089ull, 0x8000000000008003ull, \
            0x8000000000008002ull, 0x8000000000000080ull, 0x000000000000800aull, 0x800000008000000aull, \
            0x8000000080008081ull, 0x8000000000008080ull, 0x0000000080000001ull, 0x8000000080008008ull  \
    }
__constant__ u64 c_round[ROUNDS] = ROUND_CONSTANTS;
static const u64 h_round[ROUNDS] = ROUND_CONSTANTS;

static __host__ __device__ __forceinline__ u64 rotate(u64 x, int by) { return by ? x << by | x >> (64 - by) : x; }

// One round: theta, rho and pi, chi, iota (FIPS 202, section 3.2).
// The loops of constant length below are unrolled by both compilers.
static __host__ __device__ __forceinline__ void keccak_round(u64 (&a)[LANES], u64 constant) {
    const int offset[LANES] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                               25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
    u64 c[5], b[LANES];
#pragma unroll
    for (int x = 0; x < 5; x++)
        c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int i = 0; i < LANES; i++)
        a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1);
#pragma unroll
    for (int i = 0; i < LANES; i++)
        b[i / 5 + 5 * ((2 * (i % 5) + 3 * (i / 5)) % 5)] = rotate(a[i], offset[i]);
#pragma unroll
    for (int i = 0; i < LANES; i++)
        a[i] = b[i] ^ (~b[i / 5 * 5 + (i + 1) % 5] & b[i / 5 * 5 + (i + 2) % 5]);
    a[0] ^= constant;
}

// A chain of STAGES hashes of a nonce.
__global__ void keccak(u64 *out, u64 seed) {
    u64 nonce = blockIdx.x * blockDim.x + threadIdx.x, a[LANES];
#pragma unroll
    for (int i = 0; i < LANES; i++)
        a[i] = 0;
    a[0] = nonce;
    a[1] = seed;
#pragma unroll
    for (int stage = 0; stage < STAGES; stage++) {
        a[2] ^= stage + 1;
        a[16] ^= 0x8000000000000000ull;
#ifdef AFTER
#pragma unroll 1
#else
#pragma unroll
#endif
        for (int r = 0; r < ROUNDS; r++)
            keccak_round(a, c_round[r]);
    }
    out[nonce] = a[0];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "keccak");
    int n = p.small ? 132 * 128 : 132 * 2048;
    u64 *d_out = device_array<u64>(n);
    pair_time(&p, [&] { keccak<<<n / BLOCK, BLOCK>>>(d_out, 7); });
    std::vector<u64> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += n / 97) {
        u64 a[LANES] = {(u64)i, 7};
        for (int stage = 0; stage < STAGES; stage++) {
            a[2] ^= stage + 1;
            a[16] ^= 0x8000000000000000ull;
            for (int r = 0; r < ROUNDS; r++)
                keccak_round(a, h_round[r]);
        }
        pair_near(&p, "differs", i, 0, out[i] != a[0], 0);
    }
    return pair_end(&p);
}
