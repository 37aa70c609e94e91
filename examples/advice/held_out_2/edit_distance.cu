// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Also: warp-balance
// Change: the pairs of sequences are stored by the length of their texts.
// Why: a warp works until the longest of its 32 texts is done, most of its lanes idle.
#include "../common.h"

enum { BLOCK = 128, LONGEST = 512 };

static __device__ int step(unsigned long long equal, unsigned long long *plus, unsigned long long *minus) {
    unsigned long long v = equal | *minus, h = (((equal & *plus) + *plus) ^ *plus) | equal;
    unsigned long long up = *minus | ~(h | *plus), down = *plus & h;
    int change = (int)(up >> 63) - (int)(down >> 63);
    up = up << 1 | 1;
    down <<= 1;
    *plus = down | ~(v | up);
    *minus = up & v;
    return change;
}

// Bases are two bits: plane[0] and plane[1] have those of a pattern of 64, a word of the text 16 of them.
static __device__ unsigned long long equal_to(unsigned base, unsigned long long low, unsigned long long high) {
    return (base & 1 ? low : ~low) & (base & 2 ? high : ~high);
}

// Edit distances of patterns and texts, a thread each (Myers' bit vectors).
__global__ void edit_distance(const unsigned long long *low, const unsigned long long *high, const unsigned *texts,
                              const int *lengths, int *distance, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x, score = 64;
    unsigned long long plus = ~0ull, minus = 0, l = low[i], h = high[i];
    for (int k = 0; k < lengths[i]; k += 16) {
        unsigned word = texts[(size_t)(k / 16) * n + i];
        for (int b = 0; b < 16; b++)
            score += step(equal_to(word >> 2 * b & 3, l, h), &plus, &minus);
    }
    distance[i] = score;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "edit_distance");
    int n = p.small ? 1 << 15 : 1 << 19;
    std::vector<unsigned long long> low(n), high(n);
    std::vector<int> lengths(n);
    std::vector<unsigned> texts((size_t)n * (LONGEST / 16));
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        low[i] = (unsigned long long)lcg_next(&seed, 1 << 24) * 0x9e3779b97f4a7c15ull;
        high[i] = (unsigned long long)lcg_next(&seed, 1 << 24) * 0x9e3779b97f4a7c15ull;
        int r = (int)lcg_next(&seed, 32);  // few are long
        lengths[i] = 16 * (1 + r * r / 32);
    }
#ifdef AFTER
    std::sort(lengths.begin(), lengths.end());
#endif
    for (unsigned &w : texts)
        w = lcg_next(&seed, 1 << 24) * 2654435761u;
    unsigned long long *d_low = device_copy_of(low.data(), n), *d_high = device_copy_of(high.data(), n);
    unsigned *d_texts = device_copy_of(texts.data(), texts.size());
    int *d_lengths = device_copy_of(lengths.data(), n), *d_distance = device_array<int>(n);
    pair_time(&p, [&] { edit_distance<<<n / BLOCK, BLOCK>>>(d_low, d_high, d_texts, d_lengths, d_distance, n); });
    std::vector<int> distance = host_copy_of(d_distance, n);
    for (int i = 0; i < n; i += 509) {
        int row[65];
        for (int r = 0; r <= 64; r++)
            row[r] = r;
        for (int k = 0; k < lengths[i]; k++) {
            unsigned base = texts[(size_t)(k / 16) * n + i] >> 2 * (k % 16) & 3;
            int corner = row[0]++;
            for (int r = 1; r <= 64; r++) {
                unsigned other = (unsigned)(low[i] >> (r - 1) & 1) | (unsigned)(high[i] >> (r - 1) & 1) << 1;
                int best = std::min(corner + (base != other), std::min(row[r], row[r - 1]) + 1);
                corner = row[r];
                row[r] = best;
            }
        }
        pair_near(&p, "distance", i, row[64], distance[i], 0);
    }
    return pair_end(&p);
}
