// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the remainder by a modulus that is an argument becomes shifts and adds, the modulus being 2^31 - 1.
// Why: a 64-bit remainder is a call of about a hundred instructions; by a Mersenne prime it is four.
#include "common.h"

enum { PATTERN = 24, BLOCK = 128 };

static const unsigned MODULUS = 0x7fffffffu, RADIX = 257;

static __host__ __device__ unsigned remainder_of(unsigned long long value, unsigned modulus) {
#ifdef AFTER
    value = (value & 0x7fffffffu) + (value >> 31);
    return (unsigned)value >= modulus ? (unsigned)value - modulus : (unsigned)value;
#else
    return (unsigned)(value % modulus);
#endif
}

// Each thread looks at `span` neighbouring positions with a rolling hash, and compares where the hash agrees.
__global__ void rabin_karp(const unsigned char *text, int n, int span, const unsigned char *pattern, unsigned wanted,
                           unsigned top, unsigned modulus, unsigned *hits) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * span, last = min(first + span, n - PATTERN + 1);
    if (first >= last)
        return;
    unsigned hash = 0, found = 0;
    for (int i = 0; i < PATTERN; i++)
        hash = remainder_of((unsigned long long)hash * RADIX + text[first + i], modulus);
    for (int i = first;; i++) {
        if (hash == wanted) {
            int k = 0;
            while (k < PATTERN && text[i + k] == pattern[k])
                k++;
            found += k == PATTERN;
        }
        if (i + 1 >= last)
            break;
        unsigned without = hash + modulus - remainder_of((unsigned long long)top * text[i], modulus);
        hash = remainder_of((unsigned long long)without * RADIX + text[i + PATTERN], modulus);
    }
    hits[blockIdx.x * blockDim.x + threadIdx.x] = found;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rabin_karp");
    int span = p.small ? 8 : 64, threads = 132 * (p.small ? 512 : 2048), n = span * threads;
    std::vector<unsigned char> text(n), pattern(PATTERN);
    lcg_fill(text.data(), n, 1, 4);
    lcg_fill(pattern.data(), PATTERN, 2, 4);
    for (int i = 1000; i + PATTERN < n; i += 5003)
        std::copy(pattern.begin(), pattern.end(), text.begin() + i);
    unsigned wanted = 0, top = 1;
    for (int i = 0; i < PATTERN; i++) {
        wanted = remainder_of((unsigned long long)wanted * RADIX + pattern[i], MODULUS);
        top = i ? remainder_of((unsigned long long)top * RADIX, MODULUS) : 1;
    }
    unsigned char *d_text = device_copy_of(text.data(), n), *d_pattern = device_copy_of(pattern.data(), PATTERN);
    unsigned *d_hits = device_array<unsigned>(threads);
    pair_time(
        &p, [&] { rabin_karp<<<threads / BLOCK, BLOCK>>>(d_text, n, span, d_pattern, wanted, top, MODULUS, d_hits); });
    std::vector<unsigned> hits = host_copy_of(d_hits, threads);
    unsigned got = 0, expected = 0;
    for (unsigned h : hits)
        got += h;
    for (int i = 0; i + PATTERN <= n; i++)
        expected += text[i] == pattern[0] && !memcmp(&text[i], pattern.data(), PATTERN);
    pair_near(&p, "matches", 0, expected, got, 0);
    return pair_end(&p);
}
