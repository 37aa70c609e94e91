// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the scorecard is read from constant memory instead of global memory.
// Why: all lanes need the same limit and the same points, for which each takes an access to the L1 of its own.
#include "../common.h"

enum { BLOCK = 256, QUESTIONS = 12, STEPS = 10 };

#ifdef AFTER
__constant__ float2 d_card[QUESTIONS * STEPS];
#define CARD d_card
#else
#define CARD card
#endif

// Credit scores: each answer of an applicant brings the points of all limits that it reaches.
#ifdef AFTER
__global__ void scorecards(const float *answers, float *scores, int applicants) {
#else
__global__ void scorecards(const float *answers, const float2 *card, float *scores, int applicants) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float score = 600;
    for (int q = 0; q < QUESTIONS; q++) {
        float answer = answers[q * applicants + i];
        for (int s = 0; s < STEPS; s++) {
            float2 step = CARD[q * STEPS + s];
            score += answer >= step.x ? step.y : 0.0f;
        }
    }
    scores[i] = score;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "scorecards");
    int applicants = p.small ? 1 << 12 : 1 << 20;
    std::vector<float> answers = random_floats((size_t)applicants * QUESTIONS, 0, 100, 1),
                       points = random_floats(QUESTIONS * STEPS, -6, 12, 2);
    std::vector<float2> card(QUESTIONS * STEPS);
    for (int k = 0; k < QUESTIONS * STEPS; k++)
        card[k] = make_float2(8.5f * (float)(k % STEPS) + 5.0f, points[k]);
    float *d_answers = device_copy_of(answers.data(), answers.size()), *d_scores = device_array<float>(applicants);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(d_card, card.data(), card.size() * sizeof(float2)));
    pair_time(&p, [&] { scorecards<<<applicants / BLOCK, BLOCK>>>(d_answers, d_scores, applicants); });
#else
    float2 *d_card = device_copy_of(card.data(), card.size());
    pair_time(&p, [&] { scorecards<<<applicants / BLOCK, BLOCK>>>(d_answers, d_card, d_scores, applicants); });
#endif
    std::vector<float> scores = host_copy_of(d_scores, applicants);
    for (int i = 0; i < applicants; i += 151) {
        double score = 600;
        for (int k = 0; k < QUESTIONS * STEPS; k++)
            score += answers[(size_t)(k / STEPS) * applicants + i] >= card[k].x ? card[k].y : 0;
        pair_near(&p, "score", i, score, scores[i], 1e-5);
    }
    return pair_end(&p);
}
