// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: the exponential and the quotient are the fast ones: __expf, __fdividef.
// Why: every draw takes an exponential for each way to travel and a division, which the exact functions make long.
#include "../common.h"

enum { BLOCK = 128, MODES = 5, DRAWS = 64 };

#ifdef AFTER
#define EXP(x) __expf(x)
#define QUOTIENT(a, b) __fdividef(a, b)
#else
#define EXP(x) expf(x)
#define QUOTIENT(a, b) ((a) / (b))
#endif

__constant__ float2 d_tastes[DRAWS];  // what a minute and a franc are worth to somebody

// How likely each traveller's choice of car, train, bus, bicycle or foot was: a mixed logit model.
__global__ void mode_choice(const float *minutes, const float *francs, const int *chosen, float *likelihoods, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x, choice = chosen[i];
    float time[MODES], cost[MODES], likelihood = 0;
#pragma unroll
    for (int m = 0; m < MODES; m++) {
        time[m] = minutes[m * n + i];
        cost[m] = francs[m * n + i];
    }
    for (int d = 0; d < DRAWS; d++) {
        float2 taste = d_tastes[d];
        float sum = 0, own = 0;
#pragma unroll
        for (int m = 0; m < MODES; m++) {
            float weight = EXP(taste.x * time[m] + taste.y * cost[m]);
            sum += weight;
            own = m == choice ? weight : own;
        }
        likelihood += QUOTIENT(own, sum);
    }
    likelihoods[i] = likelihood / DRAWS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mode_choice");
    int n = p.small ? 1 << 11 : 1 << 19;
    std::vector<float> minutes = random_floats((size_t)n * MODES, 5, 60, 1),
                       francs = random_floats((size_t)n * MODES, 0, 12, 2), draws = random_floats(DRAWS * 2, 0, 1, 3);
    std::vector<int> chosen(n);
    lcg_fill(chosen.data(), n, 4, MODES);
    float2 tastes[DRAWS];
    for (int d = 0; d < DRAWS; d++)
        tastes[d] = make_float2(-0.02f - 0.05f * draws[2 * d], -0.1f - 0.3f * draws[2 * d + 1]);
    float *d_minutes = device_copy_of(minutes.data(), minutes.size()),
          *d_francs = device_copy_of(francs.data(), francs.size()), *d_likelihoods = device_array<float>(n);
    int *d_chosen = device_copy_of(chosen.data(), n);
    CUDA_CHECK(cudaMemcpyToSymbol(d_tastes, tastes, sizeof tastes));
    pair_time(&p, [&] { mode_choice<<<n / BLOCK, BLOCK>>>(d_minutes, d_francs, d_chosen, d_likelihoods, n); });
    std::vector<float> likelihoods = host_copy_of(d_likelihoods, n);
    for (int i = 0; i < n; i += 101) {
        double likelihood = 0;
        for (const float2 &taste : tastes) {
            double sum = 0, own = 0;
            for (int m = 0; m < MODES; m++) {
                double weight = exp(taste.x * (double)minutes[(size_t)m * n + i] + taste.y * francs[(size_t)m * n + i]);
                sum += weight;
                own = m == chosen[i] ? weight : own;
            }
            likelihood += own / sum;
        }
        pair_near(&p, "likelihood", i, likelihood / DRAWS, likelihoods[i], 1e-5);
    }
    return pair_end(&p);
}
