// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the bounds of a launch ask for three blocks on an SM instead of eight.
// Why: eight leave 32 registers a thread, and the state and the schedule of SHA-512 alone are 24 numbers of 64 bits.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
enum { BLOCKS_ON_SM = 3 };
#else
enum { BLOCKS_ON_SM = 8 };
#endif

typedef unsigned long long Word;

#define ROUND_CONSTANTS                                                                                                \
    0x428a2f98d728ae22ull, 0x7137449123ef65cdull, 0xb5c0fbcfec4d3b2full, 0xe9b5dba58189dbbcull, 0x3956c25bf348b538ull, \
        0x59f111f1b605d019ull, 0x923f82a4af194f9bull, 0xab1c5ed5da6d8118ull, 0xd807aa98a3030242ull,                    \
        0x12835b0145706fbeull, 0x243185be4ee4b28cull, 0x550c7dc3d5ffb4e2ull, 0x72be5d74f27b896full,                    \
        0x80deb1fe3b1696b1ull, 0x9bdc06a725c71235ull, 0xc19bf174cf692694ull, 0xe49b69c19ef14ad2ull,                    \
        0xefbe4786384f25e3ull, 0x0fc19dc68b8cd5b5ull, 0x240ca1cc77ac9c65ull, 0x2de92c6f592b0275ull,                    \
        0x4a7484aa6ea6e483ull, 0x5cb0a9dcbd41fbd4ull, 0x76f988da831153b5ull, 0x983e5152ee66dfabull,                    \
        0xa831c66d2db43210ull, 0xb00327c898fb213full, 0xbf597fc7beef0ee4ull, 0xc6e00bf33da88fc2ull,                    \
        0xd5a79147930aa725ull, 0x06ca6351e003826full, 0x142929670a0e6e70ull, 0x27b70a8546d22ffcull,                    \
        0x2e1b21385c26c926ull, 0x4d2c6dfc5ac42aedull, 0x53380d139d95b3dfull, 0x650a73548baf63deull,                    \
        0x766a0abb3c77b2a8ull, 0x81c2c92e47edaee6ull, 0x92722c851482353bull, 0xa2bfe8a14cf10364ull,                    \
        0xa81a664bbc423001ull, 0xc24b8b70d0f89791ull, 0xc76c51a30654be30ull, 0xd192e819d6ef5218ull,                    \
        0xd69906245565a910ull, 0xf40e35855771202aull, 0x106aa07032bbd1b8ull, 0x19a4c116b8d2d0c8ull,                    \
        0x1e376c085141ab53ull, 0x2748774cdf8eeb99ull, 0x34b0bcb5e19b48a8ull, 0x391c0cb3c5c95a63ull,                    \
        0x4ed8aa4ae3418acbull, 0x5b9cca4f7763e373ull, 0x682e6ff3d6b2b8a3ull, 0x748f82ee5defb2fcull,                    \
        0x78a5636f43172f60ull, 0x84c87814a1f0ab72ull, 0x8cc702081a6439ecull, 0x90befffa23631e28ull,                    \
        0xa4506cebde82bde9ull, 0xbef9a3f7b2c67915ull, 0xc67178f2e372532bull, 0xca273eceea26619cull,                    \
        0xd186b8c721c0c207ull, 0xeada7dd6cde0eb1eull, 0xf57d4f7fee6ed178ull, 0x06f067aa72176fbaull,                    \
        0x0a637dc5a2c898a6ull, 0x113f9804bef90daeull, 0x1b710b35131c471bull, 0x28db77f523047d84ull,                    \
        0x32caab7b40c72493ull, 0x3c9ebe0a15c9bebcull, 0x431d67c49c100d4cull, 0x4cc5d4becb3e42b6ull,                    \
        0x597f299cfc657e2aull, 0x5fcb6fab3ad6faecull, 0x6c44198c4a475817ull,

__constant__ Word device_constants[80] = {ROUND_CONSTANTS};
#ifdef __CUDA_ARCH__
#define CONSTANT(i) device_constants[i]
#else
static const Word host_constants[80] = {ROUND_CONSTANTS};
#define CONSTANT(i) host_constants[i]
#endif

static __host__ __device__ Word turn(Word x, int by) { return x >> by | x << (64 - by); }

// SHA-512's compression of one block of 16 words, from its fixed first state; `w` is used up.
static __host__ __device__ void compress(Word *w, Word *digest) {
    const Word first[8] = {
        0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull, 0xa54ff53a5f1d36f1ull,
        0x510e527fade682d1ull, 0x9b05688c2b3e6c1full, 0x1f83d9abfb41bd6bull, 0x5be0cd19137e2179ull,
    };
    Word s[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[i] = first[i];
    for (int turn_of_16 = 0; turn_of_16 < 80; turn_of_16 += 16) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            Word choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            Word a =
                s[7] + (turn(s[4], 14) ^ turn(s[4], 18) ^ turn(s[4], 41)) + choice + CONSTANT(turn_of_16 + i) + w[i];
            Word b = (turn(s[0], 28) ^ turn(s[0], 34) ^ turn(s[0], 39)) + majority;
            s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + a, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = a + b;
            Word early = w[(i + 1) % 16], late = w[(i + 14) % 16];  // the word for 16 rounds later
            w[i] += (turn(early, 1) ^ turn(early, 8) ^ early >> 7) + w[(i + 9) % 16] +
                    (turn(late, 19) ^ turn(late, 61) ^ late >> 6);
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        digest[i] = first[i] + s[i];
}

// The key that opens a password safe: the digest of salt and PIN, hashed over and over.
static __host__ __device__ Word stretch(Word salt, unsigned pin, int times) {
    Word w[16], digest[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        digest[i] = salt * (i + 1) ^ pin;
    for (int t = 0; t < times; t++) {
#pragma unroll
        for (int i = 0; i < 16; i++)
            w[i] = i < 8 ? digest[i] : i == 8 ? 1ull << 63 : i == 15 ? 512 : 0;
        compress(w, digest);
    }
    return digest[0] ^ digest[7];
}

// Makes the keys of all the PINs of an audit.
__global__ void __launch_bounds__(BLOCK, BLOCKS_ON_SM) stretch_pins(Word salt, Word *keys, int pins, int times) {
    int pin = blockIdx.x * BLOCK + threadIdx.x;
    if (pin < pins)
        keys[pin] = stretch(salt, pin, times);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vault_keys");
    int pins = p.small ? 300 : 300000, times = p.small ? 3 : 10;
    Word salt = 0x9e3779b97f4a7c15ull, *d_keys = device_array<Word>(pins);
    pair_time(&p, [&] { stretch_pins<<<(pins + BLOCK - 1) / BLOCK, BLOCK>>>(salt, d_keys, pins, times); });
    std::vector<Word> keys = host_copy_of(d_keys, pins);
    for (int pin = 0; pin < pins; pin += 1 + pins / 3000) {
        Word expected = stretch(salt, pin, times);
        pair_near(&p, "key, upper half", pin, (unsigned)(expected >> 32), (unsigned)(keys[pin] >> 32), 0);
        pair_near(&p, "key, lower half", pin, (unsigned)expected, (unsigned)keys[pin], 0);
    }
    return pair_end(&p);
}
