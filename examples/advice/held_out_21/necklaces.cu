// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: a position past the clasp is brought back by a subtraction instead of a remainder.
// Why: the number of beads is known at run time only, so that each remainder is a division of some 20 instructions.
#include "../common.h"

enum { BLOCK = 256, MOST_BEADS = 2048 };

// Where does a pattern fit best on each necklace, forwards or backwards? One block per necklace. Equal colours count
// by the weight of the place in the pattern; the first of the best places wins.
__global__ void best_fit(const unsigned char *necklaces, const unsigned char *pattern, const int *weights, int *scores,
                         int *places, int beads, int length) {
    __shared__ unsigned char colours[MOST_BEADS];
    __shared__ int best;
    const unsigned char *own = necklaces + (size_t)blockIdx.x * beads;
    for (int k = threadIdx.x; k < beads; k += BLOCK)
        colours[k] = own[k];
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    int mine = 0;
    for (int start = threadIdx.x; start < beads; start += BLOCK) {
        int forwards = 0, backwards = 0;
        for (int k = 0; k < length; k++) {
#ifdef AFTER
            int right = start + k, left = start - k;
            right -= right >= beads ? beads : 0;
            left += left < 0 ? beads : 0;
#else
            int right = (start + k) % beads, left = (start + beads - k) % beads;
#endif
            int colour = pattern[k], weight = weights[k];
            forwards += colours[right] == colour ? weight : 0;
            backwards += colours[left] == colour ? weight : 0;
        }
        mine = max(mine, max(forwards, backwards) * MOST_BEADS + MOST_BEADS - 1 - start);
    }
    mine = __reduce_max_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        scores[blockIdx.x] = best / MOST_BEADS;
        places[blockIdx.x] = MOST_BEADS - 1 - best % MOST_BEADS;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "necklaces");
    int n = p.small ? 6 : 132 * 20, beads = p.small ? 300 : 1500, length = p.small ? 12 : 60;
    std::vector<unsigned char> necklaces((size_t)n * beads), pattern(length);
    std::vector<int> weights(length);
    lcg_fill(necklaces.data(), necklaces.size(), 1, 5);
    lcg_fill(pattern.data(), length, 2, 5);
    lcg_fill(weights.data(), length, 3, 9);
    unsigned char *d_necklaces = device_copy_of(necklaces.data(), necklaces.size()),
                  *d_pattern = device_copy_of(pattern.data(), length);
    int *d_weights = device_copy_of(weights.data(), length), *d_scores = device_array<int>(n),
        *d_places = device_array<int>(n);
    pair_time(&p,
              [&] { best_fit<<<n, BLOCK>>>(d_necklaces, d_pattern, d_weights, d_scores, d_places, beads, length); });
    std::vector<int> scores = host_copy_of(d_scores, n), places = host_copy_of(d_places, n);
    for (int i = 0; i < n; i += p.small ? 1 : 71) {
        int best = 0, place = 0;
        const unsigned char *own = &necklaces[(size_t)i * beads];
        for (int start = 0; start < beads; start++) {
            int forwards = 0, backwards = 0;
            for (int k = 0; k < length; k++) {
                forwards += own[(start + k) % beads] == pattern[k] ? weights[k] : 0;
                backwards += own[(start + beads - k) % beads] == pattern[k] ? weights[k] : 0;
            }
            int score = std::max(forwards, backwards);
            if (score > best) {
                best = score;
                place = start;
            }
        }
        pair_near(&p, "score", i, best, scores[i], 1e-9);
        pair_near(&p, "place", i, place, places[i], 1e-9);
    }
    return pair_end(&p);
}
