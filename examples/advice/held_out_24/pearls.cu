// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: each thread looks for the partners of four pearls instead of one.
// Why: each number of a candidate that is read from shared memory is then used four times out of a register.
#include "../common.h"

constexpr int BLOCK = 128, TRAITS = 12, TRAY = 64;

#ifdef AFTER
constexpr int EACH = 4;
#else
constexpr int EACH = 1;
#endif

// For each pearl the candidate most like it: least sum of differences of its traits (size, lustre, colours and so on,
// already weighted), and a third more if it is larger. The pearls of a block are next to each other; trait t of pearl i
// is pearls[t * n + i]. Candidates come in trays of 64, all traits of one together.
__global__ void match_pearls(const float *__restrict__ pearls, const float *__restrict__ candidates,
                             float *__restrict__ unlike, int *__restrict__ partner, int n, int trays) {
    __shared__ float tray[TRAY * TRAITS];
    int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
    float own[EACH][TRAITS], least[EACH];
    int best[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int i = min(first + e * BLOCK, n - 1);
        least[e] = 1e30f;
        best[e] = -1;
#pragma unroll
        for (int t = 0; t < TRAITS; t++)
            own[e][t] = pearls[(size_t)t * n + i];
    }
    for (int group = 0; group < trays; group++) {
        for (int k = threadIdx.x; k < TRAY * TRAITS; k += BLOCK)
            tray[k] = candidates[group * TRAY * TRAITS + k];
        __syncthreads();
        for (int c = 0; c < TRAY; c++) {
            const float *other = tray + c * TRAITS;
            float sum[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] = 0;
#pragma unroll
            for (int t = 0; t < TRAITS; t++) {
                float trait = other[t];
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    sum[e] += fabsf(own[e][t] - trait);
            }
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                float total = other[0] > own[e][0] ? sum[e] * 1.333f : sum[e];
                if (total < least[e]) {
                    least[e] = total;
                    best[e] = group * TRAY + c;
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int i = first + e * BLOCK;
        if (i < n) {
            unlike[i] = least[e];
            partner[i] = best[e];
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pearls");
    int n = p.small ? 1000 : 132 * 2048, trays = p.small ? 1 : 14, m = trays * TRAY;
    std::vector<float> pearls = random_floats((size_t)n * TRAITS, 0, 1, 1),
                       candidates = random_floats((size_t)m * TRAITS, 0, 1, 2);
    float *d_pearls = device_copy_of(pearls.data(), pearls.size());
    float *d_candidates = device_copy_of(candidates.data(), candidates.size());
    float *d_unlike = device_array<float>(n);
    int *d_partner = device_array<int>(n), per_block = BLOCK * EACH;
    pair_time(&p, [&] {
        match_pearls<<<(n + per_block - 1) / per_block, BLOCK>>>(d_pearls, d_candidates, d_unlike, d_partner, n, trays);
    });
    std::vector<float> unlike = host_copy_of(d_unlike, n);
    std::vector<int> partner = host_copy_of(d_partner, n);
    for (int i = 0; i < n; i += p.small ? 1 : 499) {
        double least = 1e30, of_partner = -1;
        for (int c = 0; c < m; c++) {
            double sum = 0;
            for (int t = 0; t < TRAITS; t++)
                sum += fabs((double)pearls[(size_t)t * n + i] - candidates[(size_t)c * TRAITS + t]);
            if (candidates[(size_t)c * TRAITS] > pearls[i])
                sum *= 1.333;
            least = std::min(least, sum);
            if (c == partner[i])
                of_partner = sum;
        }
        pair_near(&p, "unlike", i, least, unlike[i], 1e-5);
        pair_near(&p, "partner's", i, least, of_partner, 1e-5);  // two may be equally good but for rounding
    }
    return pair_end(&p);
}
