// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the scores of the transitions, which all threads share, are read from constant memory.
// Why: 256 loads for each symbol fetch one word for a whole warp.
#include "../common.h"

enum { BLOCK = 128, STATES = 16, SYMBOLS = 4, LENGTH = 96 };

__constant__ float c_transition[STATES * STATES];

__global__ void viterbi(const unsigned char *symbols, const float *transition, const float *emission, float *best,
                        int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float score[STATES];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        score[s] = 0;
    for (int t = 0; t < LENGTH; t++) {
        const float *emit = emission + symbols[t * n + i] * STATES;
        float next[STATES];
#pragma unroll
        for (int to = 0; to < STATES; to++) {
            float top = -1e30f;
#pragma unroll
            for (int from = 0; from < STATES; from++)
#ifdef AFTER
                top = fmaxf(top, score[from] + c_transition[to * STATES + from]);
#else
                top = fmaxf(top, score[from] + transition[to * STATES + from]);
#endif
            next[to] = top + emit[to];
        }
#pragma unroll
        for (int s = 0; s < STATES; s++)
            score[s] = next[s];
    }
    float top = score[0];
#pragma unroll
    for (int s = 1; s < STATES; s++)
        top = fmaxf(top, score[s]);
    best[i] = top;
}

static float on_host(const unsigned char *symbols, const float *transition, const float *emission, int i, int n) {
    std::vector<float> score(STATES), next(STATES);
    for (int t = 0; t < LENGTH; t++) {
        for (int to = 0; to < STATES; to++) {
            float top = -1e30f;
            for (int from = 0; from < STATES; from++)
                top = std::max(top, score[from] + transition[to * STATES + from]);
            next[to] = top + emission[symbols[(size_t)t * n + i] * STATES + to];
        }
        score = next;
    }
    return *std::max_element(score.begin(), score.end());
}

// Scores of the best paths of many sequences through a hidden Markov model of 16 states.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "viterbi");
    int n = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> transition = random_floats(STATES * STATES, -4, 0, 1),
                       emission = random_floats(SYMBOLS * STATES, -4, 0, 2);
    std::vector<unsigned char> symbols((size_t)LENGTH * n);
    lcg_fill(symbols.data(), symbols.size(), 3, SYMBOLS);
    float *d_transition = device_copy_of(transition.data(), transition.size()),
          *d_emission = device_copy_of(emission.data(), emission.size()), *d_best = device_array<float>(n);
    unsigned char *d_symbols = device_copy_of(symbols.data(), symbols.size());
    CUDA_CHECK(cudaMemcpyToSymbol(c_transition, transition.data(), sizeof c_transition));
    pair_time(&p, [&] { viterbi<<<n / BLOCK, BLOCK>>>(d_symbols, d_transition, d_emission, d_best, n); });
    std::vector<float> best = host_copy_of(d_best, n);
    for (int i = 0; i < n; i += 997)
        pair_near(&p, "score", i, on_host(symbols.data(), transition.data(), emission.data(), i, n), best[i], 1e-5);
    return pair_end(&p);
}
