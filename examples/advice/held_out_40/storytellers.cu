// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the penalties for repeated tokens and the temperature are applied by one kernel instead of two.
// Why: both go through the scores of the whole vocabulary once; the second only reads back from memory what the first
//      has written there, half of all the bytes that the two move.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 256, PER_THREAD = 4 };

// How a request wants its next token to be chosen.
struct Wishes {
    float repetition, frequency, presence;  // penalties
    float temperature, cap;
};

__host__ __device__ static inline float penalised(float score, int uses, const Wishes &w) {
    if (uses == 0)
        return score;
    score = score > 0 ? score / w.repetition : score * w.repetition;
    return score - uses * w.frequency - w.presence;
}

__host__ __device__ static inline float heated(float score, bool banned, const Wishes &w) {
    float soft = w.cap * tanhf(score / w.cap);
    return banned ? -1e4f : soft / w.temperature;
}

__host__ __device__ static inline bool bit_of(const unsigned *bits, int token) {
    return bits[token / 32] >> token % 32 & 1;
}

// Grid: tokens of the vocabulary by requests of the batch.
#ifdef AFTER
__global__ void prepare(const __half *__restrict__ logits, const unsigned char *__restrict__ uses,
                        const unsigned *__restrict__ banned, const Wishes *__restrict__ wishes, int vocabulary,
                        float *__restrict__ scores) {
    Wishes w = wishes[blockIdx.y];
    size_t row = (size_t)blockIdx.y * vocabulary;
    int first = blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int token = first + k * BLOCK;
        if (token < vocabulary) {
            float score = penalised(__half2float(logits[row + token]), uses[row + token], w);
            scores[row + token] = heated(score, bit_of(banned, token), w);
        }
    }
}
#else
__global__ void apply_penalties(const __half *__restrict__ logits, const unsigned char *__restrict__ uses,
                                const Wishes *__restrict__ wishes, int vocabulary, float *__restrict__ scores) {
    Wishes w = wishes[blockIdx.y];
    size_t row = (size_t)blockIdx.y * vocabulary;
    int first = blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int token = first + k * BLOCK;
        if (token < vocabulary)
            scores[row + token] = penalised(__half2float(logits[row + token]), uses[row + token], w);
    }
}

__global__ void apply_temperature(float *__restrict__ scores, const unsigned *__restrict__ banned,
                                  const Wishes *__restrict__ wishes, int vocabulary) {
    Wishes w = wishes[blockIdx.y];
    size_t row = (size_t)blockIdx.y * vocabulary;
    int first = blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int token = first + k * BLOCK;
        if (token < vocabulary)
            scores[row + token] = heated(scores[row + token], bit_of(banned, token), w);
    }
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "storytellers");
    int vocabulary = p.small ? 3000 : 128256, requests = p.small ? 4 : 256;
    size_t count = (size_t)vocabulary * requests;
    std::vector<__half> logits;
    std::vector<unsigned char> uses;
    unsigned seed = 12;
    for (size_t i = 0; i < count; i++) {
        logits.push_back(__float2half((float)lcg_next(&seed, 4000) / 100 - 20));
        uses.push_back((unsigned char)std::max(0, (int)lcg_next(&seed, 64) - 58));
    }
    std::vector<unsigned> banned((vocabulary + 31) / 32);
    for (int token = 0; token < vocabulary; token += 1 + lcg_next(&seed, 90))
        banned[token / 32] |= 1u << token % 32;
    std::vector<Wishes> wishes;
    for (int r = 0; r < requests; r++)
        wishes.push_back({1.0f + 0.05f * (r % 8), 0.1f * (r % 5), 0.2f * (r % 3), 0.5f + 0.1f * (r % 9), 30});
    __half *d_logits = device_copy_of(logits.data(), count);
    unsigned char *d_uses = device_copy_of(uses.data(), count);
    unsigned *d_banned = device_copy_of(banned.data(), banned.size());
    Wishes *d_wishes = device_copy_of(wishes.data(), requests);
    float *d_scores = device_array<float>(count);
    dim3 blocks((vocabulary + BLOCK * PER_THREAD - 1) / (BLOCK * PER_THREAD), requests);
    pair_time(&p, [&] {
#ifdef AFTER
        prepare<<<blocks, BLOCK>>>(d_logits, d_uses, d_banned, d_wishes, vocabulary, d_scores);
#else
        apply_penalties<<<blocks, BLOCK>>>(d_logits, d_uses, d_wishes, vocabulary, d_scores);
        apply_temperature<<<blocks, BLOCK>>>(d_scores, d_banned, d_wishes, vocabulary);
#endif
    });
    std::vector<float> scores = host_copy_of(d_scores, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 31) {
        const Wishes &w = wishes[i / vocabulary];
        float score = penalised(__half2float(logits[i]), uses[i], w);
        pair_near(&p, "score", i, heated(score, bit_of(banned.data(), i % vocabulary), w), scores[i], 1e-4);
    }
    return pair_end(&p);
}
