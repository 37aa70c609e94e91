// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next frames are copied to shared memory asynchronously.
// Why: the plain copy goes through a register, so that each thread waits for it before it starts on the frames that
// are there already; the asynchronous one arrives while these are worked on.
#include "../common.h"

#include <cuda_pipeline.h>

enum { STATES = 256, PHONES = 128, FRAMES = 8, PIECES = FRAMES * PHONES / 4 };
static_assert(PIECES == STATES, "each thread copies one piece of a stage");

constexpr float NEVER = -1e30f;

__device__ void copy_piece(float4 *to, const float4 *from) {
#ifdef AFTER
    __pipeline_memcpy_async(to, from, sizeof(float4));
#else
    *to = *from;
#endif
}

// Forced alignment of speech with its text: the states of a text are passed from left to right, and each frame either
// stays in its state or goes on to the next one. One block per utterance, one thread per state.
// likelihoods: per frame, the log-likelihood of every phone. moves: per frame, a bit per state, set when the best way
// to this state comes from the state before.
__global__ void __launch_bounds__(STATES)
    vowels(const float4 *__restrict__ likelihoods, const unsigned char *__restrict__ phones,
           unsigned *__restrict__ moves, float *__restrict__ scores, int frames) {
    __shared__ float4 stage[2][PIECES];
    __shared__ float best[2][STATES + 1];
    const int state = threadIdx.x, utterance = blockIdx.x, stages = frames / FRAMES;
    const float4 *source = likelihoods + (size_t)utterance * stages * PIECES + state;
    const int phone = phones[utterance * STATES + state];
    unsigned *way = moves + (size_t)utterance * frames * (STATES / 32) + state / 32;

    float mine = state == 0 ? 0.0f : NEVER;
    best[0][state + 1] = mine;
    if (state < 2)
        best[state][0] = NEVER;
    copy_piece(&stage[0][state], source);
    __pipeline_commit();
    for (int s = 0; s < stages; s++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (s + 1 < stages)
            copy_piece(&stage[(s + 1) % 2][state], source + (s + 1) * PIECES);
        __pipeline_commit();

        const float *row = (const float *)stage[s % 2] + phone;
        for (int f = 0; f < FRAMES; f++) {
            const float come = best[f % 2][state];
            const unsigned came = __ballot_sync(~0u, come > mine);
            if (state % 32 == 0)
                way[(s * FRAMES + f) * (STATES / 32)] = came;
            mine = fmaxf(come, mine) + row[f * PHONES];
            best[(f + 1) % 2][state + 1] = mine;
            __syncthreads();
        }
    }
    if (state == STATES - 1)
        scores[utterance] = mine;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vowels");
    const int utterances = p.small ? 2 : 264, frames = p.small ? 264 : 1000;
    const size_t n = (size_t)utterances * frames * PHONES;
    std::vector<float> likelihoods = random_floats(n, -9, -0.1f, 1);
    std::vector<unsigned char> phones(utterances * STATES);
    unsigned seed = 2;
    for (int i = 0; i < utterances * STATES; i += 2)  // two states per phone
        phones[i] = phones[i + 1] = lcg_next(&seed, PHONES);

    float *d_likelihoods = device_copy_of(likelihoods.data(), n);
    unsigned char *d_phones = device_copy_of(phones.data(), phones.size());
    const size_t words = (size_t)utterances * frames * (STATES / 32);
    unsigned *d_moves = device_array<unsigned>(words);
    float *d_scores = device_array<float>(utterances);
    pair_time(&p, [&] {
        vowels<<<utterances, STATES>>>((const float4 *)d_likelihoods, d_phones, d_moves, d_scores, frames);
    });

    std::vector<float> scores = host_copy_of(d_scores, utterances);
    std::vector<unsigned> moves = host_copy_of(d_moves, words);
    for (int u = 0; u < utterances; u += p.small ? 1 : 29) {
        std::vector<double> best(STATES, NEVER);
        best[0] = 0;
        for (int f = 0; f < frames; f++)
            for (int s = STATES - 1; s >= 0; s--) {
                double from = s ? best[s - 1] : NEVER;
                const float *row = &likelihoods[((size_t)u * frames + f) * PHONES];
                best[s] = std::max(from, best[s]) + row[phones[u * STATES + s]];
            }
        pair_near(&p, "score", u, best[STATES - 1], scores[u], 1e-4);
        // The likelihoods along the way back must add up to the score.
        double sum = 0;
        int s = STATES - 1;
        for (int f = frames - 1; f >= 0; f--) {
            sum += likelihoods[((size_t)u * frames + f) * PHONES + phones[u * STATES + s]];
            s -= moves[((size_t)u * frames + f) * (STATES / 32) + s / 32] >> s % 32 & 1;
        }
        pair_near(&p, "way", u, best[STATES - 1], s == 0 ? sum : NEVER, 1e-4);
    }
    return pair_end(&p);
}
