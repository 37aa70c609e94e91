// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loops over the message schedule and the 64 rounds are unrolled completely.
// Why: then all indices into the schedule are known when compiling, and it is kept in registers, not local memory.
#include "../common.h"

enum { BLOCK = 256, WORDS = 12 };

#ifdef AFTER
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#define ROUND_KEYS                                                                                                     \
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,        \
        0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,    \
        0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,    \
        0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,    \
        0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,    \
        0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,    \
        0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,    \
        0xc67178f2
#define START 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19

__constant__ unsigned round_keys[64] = {ROUND_KEYS};

__host__ __device__ inline unsigned turned(unsigned x, int by) { return x >> by | x << (32 - by); }

// The SHA-256 of receipts of 48 bytes each, of which the first two words are kept as a mark. One thread per receipt;
// word w of receipt i is text[w * n + i].
__global__ void mark_receipts(const unsigned *text, uint2 *marks, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[64];
    for (int k = 0; k < 16; k++)
        w[k] = k < WORDS ? text[(size_t)k * n + i] : k == WORDS ? 0x80000000u : k == 15 ? WORDS * 32 : 0;
    UNROLL
    for (int r = 16; r < 64; r++)
        w[r] = w[r - 16] + (turned(w[r - 15], 7) ^ turned(w[r - 15], 18) ^ w[r - 15] >> 3) + w[r - 7] +
               (turned(w[r - 2], 17) ^ turned(w[r - 2], 19) ^ w[r - 2] >> 10);
    const unsigned start[8] = {START};
    unsigned a = start[0], b = start[1], c = start[2], d = start[3];
    unsigned e = start[4], f = start[5], g = start[6], h = start[7];
    UNROLL
    for (int r = 0; r < 64; r++) {
        unsigned t = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + round_keys[r] + w[r];
        unsigned u = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t;
        d = c, c = b, b = a, a = t + u;
    }
    marks[i] = make_uint2(a + start[0], b + start[1]);
}

static void host_mark(const unsigned *text, int n, int i, unsigned *mark) {
    static const unsigned keys[64] = {ROUND_KEYS}, start[8] = {START};
    unsigned w[64] = {0}, v[8];
    for (int k = 0; k < WORDS; k++)
        w[k] = text[(size_t)k * n + i];
    w[WORDS] = 0x80000000u;
    w[15] = WORDS * 32;
    for (int r = 16; r < 64; r++)
        w[r] = w[r - 16] + (turned(w[r - 15], 7) ^ turned(w[r - 15], 18) ^ w[r - 15] >> 3) + w[r - 7] +
               (turned(w[r - 2], 17) ^ turned(w[r - 2], 19) ^ w[r - 2] >> 10);
    memcpy(v, start, sizeof v);
    for (int r = 0; r < 64; r++) {
        unsigned t = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
                     ((v[4] & v[5]) ^ (~v[4] & v[6])) + keys[r] + w[r];
        unsigned u = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
                     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t;
        v[0] = t + u;
    }
    mark[0] = v[0] + start[0];
    mark[1] = v[1] + start[1];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "receipts");
    int n = p.small ? 500 : 132 * 8192;
    std::vector<unsigned> text((size_t)n * WORDS);
    lcg_fill(text.data(), text.size(), 3, 1u << 24);
    unsigned *d_text = device_copy_of(text.data(), text.size());
    uint2 *d_marks = device_array<uint2>(n);
    pair_time(&p, [&] { mark_receipts<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_text, d_marks, n); });
    std::vector<uint2> marks = host_copy_of(d_marks, n);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        unsigned want[2];
        host_mark(text.data(), n, i, want);
        pair_near(&p, "first", i, want[0], marks[i].x, 0);
        pair_near(&p, "second", i, want[1], marks[i].y, 0);
    }
    return pair_end(&p);
}
