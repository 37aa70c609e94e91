// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the codes of the features and the verdicts are stored in one byte each instead of four.
// Why: no code is above 11, and nearly all the time goes into reading them.
#include "../common.h"

enum { BLOCK = 256, FEATURES = 6, CODES = 12 };
enum { LEAVE, ASK, TAKE };

#ifdef AFTER
typedef unsigned char Code;
#else
typedef int Code;
#endif

struct Baskets {
    const Code *features[FEATURES];  // cap, gills, stalk, ring, smell, place
};

// Is a mushroom edible? Naive Bayes over six features: the sum of the log odds of their codes, and a verdict.
__global__ void verdicts(Baskets baskets, const float *log_odds, Code *verdict, int *taken, int n, float sure) {
    __shared__ float table[FEATURES * CODES];
    for (int k = threadIdx.x; k < FEATURES * CODES; k += BLOCK)
        table[k] = log_odds[k];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float odds = 0.2f;
    if (i < n) {
#pragma unroll
        for (int f = 0; f < FEATURES; f++)
            odds += table[f * CODES + baskets.features[f][i]];
        verdict[i] = odds > sure ? TAKE : odds < -sure ? LEAVE : ASK;
    }
    int count = __syncthreads_count(i < n && odds > sure);
    if (threadIdx.x == 0)
        taken[blockIdx.x] = count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mushrooms");
    int n = p.small ? 4000 : 5000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> log_odds = random_floats(FEATURES * CODES, -2, 2, 1);
    for (float &o : log_odds)
        o = rintf(64 * o) / 64;  // sums are exact
    std::vector<Code> features[FEATURES];
    Baskets baskets;
    for (int f = 0; f < FEATURES; f++) {
        features[f].resize(n);
        lcg_fill(features[f].data(), n, f + 2, CODES);
        baskets.features[f] = device_copy_of(features[f].data(), n);
    }
    float *d_log_odds = device_copy_of(log_odds.data(), log_odds.size()), sure = 1.01f;
    Code *d_verdict = device_array<Code>(n);
    int *d_taken = device_array<int>(blocks);
    pair_time(&p, [&] { verdicts<<<blocks, BLOCK>>>(baskets, d_log_odds, d_verdict, d_taken, n, sure); });
    std::vector<Code> verdict = host_copy_of(d_verdict, n);
    std::vector<int> taken = host_copy_of(d_taken, blocks);
    for (int b = 0; b < blocks; b += p.small ? 1 : 13) {
        int count = 0;
        for (int i = b * BLOCK; i < std::min(n, (b + 1) * BLOCK); i++) {
            double odds = 0.2f;
            for (int f = 0; f < FEATURES; f++)
                odds += log_odds[f * CODES + features[f][i]];
            int expected = odds > sure ? TAKE : odds < -sure ? LEAVE : ASK;
            pair_near(&p, "verdict", i, expected, verdict[i], 1e-9);
            count += expected == TAKE;
        }
        pair_near(&p, "taken", b, count, taken[b], 1e-9);
    }
    return pair_end(&p);
}
