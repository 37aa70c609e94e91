// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: the logarithm of a sum is the larger one and a term in their distance, without a branch.
// Why: lanes take both sides of a branch whose sides do the same costly thing.
#include "../common.h"

enum { BLOCK = 128, STATES = 8 };

// log(exp(a) + exp(b))
static __device__ inline float log_sum(float a, float b) {
#ifdef AFTER
    return fmaxf(a, b) + log1pf(expf(-fabsf(a - b)));
#else
    if (a > b)
        return a + log1pf(expf(b - a));
    else
        return b + log1pf(expf(a - b));
#endif
}

// Forward metrics of a turbo decoder: eight states, feedback of the last two bits, parity of the first and last.
__global__ void turbo_metrics(const float *systematic, const float *parities, float *metrics, int words, int bits) {
    int word = blockIdx.x * BLOCK + threadIdx.x;
    float metric[STATES];
    for (int s = 0; s < STATES; s++)
        metric[s] = s ? -40.0f : 0.0f;
    for (int t = 0; t < bits; t++) {
        float own = systematic[t * words + word], parity = parities[t * words + word], next[STATES];
#pragma unroll
        for (int s = 0; s < STATES; s++) {  // state s comes from (s << 1) & 7 and the same with the last bit set
            int first = s >> 2, a = s >> 1 & 1, b = s & 1;
            float from[2];
#pragma unroll
            for (int c = 0; c < 2; c++) {
                int bit = first ^ b ^ c, check = first ^ a ^ c;
                from[c] = metric[(s << 1 & 7) | c] + (bit ? own : 0.0f) + (check ? parity : 0.0f);
            }
            next[s] = log_sum(from[0], from[1]);
        }
#pragma unroll
        for (int s = 0; s < STATES; s++)
            metric[s] = next[s] - next[0];
    }
    for (int s = 0; s < STATES; s++)
        metrics[s * words + word] = metric[s];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "turbo_metrics");
    int words = p.small ? 512 : 1 << 17, bits = p.small ? 6 : 48;
    size_t n = (size_t)words * bits;
    std::vector<float> systematic = random_floats(n, -3, 3, 1), parities = random_floats(n, -3, 3, 2);
    float *d_systematic = device_copy_of(systematic.data(), n), *d_parities = device_copy_of(parities.data(), n),
          *d_metrics = device_array<float>((size_t)words * STATES);
    pair_time(&p, [&] { turbo_metrics<<<words / BLOCK, BLOCK>>>(d_systematic, d_parities, d_metrics, words, bits); });
    std::vector<float> metrics = host_copy_of(d_metrics, (size_t)words * STATES);
    for (int word = 0; word < words; word += p.small ? 5 : 509) {
        double metric[STATES] = {0, -40, -40, -40, -40, -40, -40, -40}, next[STATES];
        for (int t = 0; t < bits; t++) {
            std::fill(next, next + STATES, 0.0);
            for (int old = 0; old < STATES; old++)
                for (int bit = 0; bit < 2; bit++) {
                    int first = bit ^ (old >> 1 & 1) ^ (old & 1), check = first ^ (old >> 2) ^ (old & 1);
                    next[first << 2 | old >> 1] += exp(metric[old] + bit * systematic[(size_t)t * words + word] +
                                                       check * parities[(size_t)t * words + word]);
                }
            for (int s = 0; s < STATES; s++)
                metric[s] = log(next[s] / next[0]);
        }
        for (int s = 0; s < STATES; s++)
            pair_near(&p, "metric", (size_t)s * words + word, metric[s], metrics[(size_t)s * words + word], 1e-4);
    }
    return pair_end(&p);
}
