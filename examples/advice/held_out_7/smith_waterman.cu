// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the scores of a row are kept as numbers of 16 bits in shared memory, which they fit.
// Why: 48 KiB for 64 threads leave room for eight warps in an SM.
#include "../common.h"

enum { BLOCK = 64, LENGTH = 96, MATCH = 5, MISMATCH = -4, OPEN = 8, EXTEND = 1 };
#ifdef AFTER
typedef short Score;
#else
typedef int Score;
#endif

// The best local alignment of the query with a sequence by each thread (affine gaps).
__global__ void smith_waterman(const unsigned char *query, const unsigned char *sequences, int *best, int count) {
    __shared__ Score score[LENGTH][BLOCK], gap[LENGTH][BLOCK];
    int t = threadIdx.x, s = blockIdx.x * BLOCK + t, top = 0;
    for (int j = 0; j < LENGTH; j++)
        score[j][t] = gap[j][t] = 0;
    for (int i = 0; i < LENGTH; i++) {
        int letter = sequences[i * count + s], diagonal = 0, left = 0, left_gap = 0;
        for (int j = 0; j < LENGTH; j++) {
            int above = score[j][t];
            int up_gap = max(gap[j][t] - EXTEND, above - OPEN);
            left_gap = max(left_gap - EXTEND, left - OPEN);
            int here = diagonal + (letter == query[j] ? MATCH : MISMATCH);
            here = max(max(here, 0), max(up_gap, left_gap));
            score[j][t] = here;
            gap[j][t] = up_gap;
            diagonal = above;
            left = here;
            top = max(top, here);
        }
    }
    best[s] = top;
}

static int on_host(const std::vector<unsigned char> &query, const unsigned char *sequences, int s, int count) {
    std::vector<int> score(LENGTH), gap(LENGTH);
    int top = 0;
    for (int i = 0; i < LENGTH; i++) {
        int diagonal = 0, left = 0, left_gap = 0;
        for (int j = 0; j < LENGTH; j++) {
            int above = score[j];
            gap[j] = std::max(gap[j] - EXTEND, above - OPEN);
            left_gap = std::max(left_gap - EXTEND, left - OPEN);
            int here = diagonal + (sequences[(size_t)i * count + s] == query[j] ? MATCH : MISMATCH);
            left = score[j] = std::max({here, 0, gap[j], left_gap});
            diagonal = above;
            top = std::max(top, left);
        }
    }
    return top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "smith_waterman");
    int count = p.small ? 1 << 11 : 1 << 17;
    std::vector<unsigned char> query(LENGTH), sequences((size_t)LENGTH * count);
    lcg_fill(query.data(), LENGTH, 1, 4);
    lcg_fill(sequences.data(), sequences.size(), 2, 4);
    unsigned char *d_query = device_copy_of(query.data(), LENGTH),
                  *d_sequences = device_copy_of(sequences.data(), sequences.size());
    int *d_best = device_array<int>(count);
    pair_time(&p, [&] { smith_waterman<<<count / BLOCK, BLOCK>>>(d_query, d_sequences, d_best, count); });
    std::vector<int> best = host_copy_of(d_best, count);
    for (int s = 0; s < count; s += 997)
        pair_near(&p, "best", s, on_host(query, sequences.data(), s, count), best[s], 0);
    return pair_end(&p);
}
