// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a block take the people in turn, not each a run of neighbours.
// Why: a person is compared with all that come later, so the warp with the first run has fifteen times the work of the
//      one with the last; the block and its scheduler wait for it.
#include "../common.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, MOST_PEOPLE = 3072 };

// Kendall's tau: do two people who differ in one answer differ in the other the same way? Sliders give 0 to 100.
__host__ __device__ static inline int agreement(short2 one, short2 other) {
    int product = (one.x - other.x) * (one.y - other.y);
    return (product > 0) - (product < 0);
}

// The pair of questions that a block compares: 0-1, 0-2, 1-2, 0-3, 1-3, ...
__host__ __device__ static inline int2 questions_of(int pair) {
    int second = 1;
    while (pair >= second)
        pair -= second++;
    return make_int2(pair, second);
}

// Agreement of one person with everybody after them; lanes take the others.
__device__ static inline int row_sum(const short2 *answers, int person, int people, int lane) {
    short2 mine = answers[person];
    int sum = 0;
    for (int other = person + 1 + lane; other < people; other += WARP)
        sum += agreement(mine, answers[other]);
    return sum;
}

__global__ void __launch_bounds__(BLOCK)
    rank_correlation(const unsigned char *__restrict__ answers, int people, float *__restrict__ tau) {
    __shared__ short2 both[MOST_PEOPLE];
    __shared__ int total;
    int2 question = questions_of(blockIdx.x);
    for (int i = threadIdx.x; i < people; i += BLOCK) {
        both[i].x = answers[(size_t)question.x * people + i];
        both[i].y = answers[(size_t)question.y * people + i];
    }
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();

    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, sum = 0;
#ifdef AFTER
    for (int person = warp; person < people; person += WARPS)
        sum += row_sum(both, person, people, lane);
#else
    int share = (people + WARPS - 1) / WARPS, end = min((warp + 1) * share, people);
    for (int person = warp * share; person < end; person++)
        sum += row_sum(both, person, people, lane);
#endif
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0)
        atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        tau[blockIdx.x] = total / (0.5f * people * (people - 1));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "questionnaires");
    int people = p.small ? 150 : 3000, questions = p.small ? 5 : 23, pairs = questions * (questions - 1) / 2;
    std::vector<unsigned char> answers((size_t)questions * people);
    unsigned seed = 23;
    for (int i = 0; i < people; i++) {
        int mood = lcg_next(&seed, 50);
        for (int q = 0; q < questions; q++) {
            int told = q % 3 == 2 ? 50 - mood : mood;  // some questions are asked the other way round
            answers[(size_t)q * people + i] = (unsigned char)(told + lcg_next(&seed, 51));
        }
    }
    unsigned char *d_answers = device_copy_of(answers.data(), answers.size());
    float *d_tau = device_array<float>(pairs);
    pair_time(&p, [&] { rank_correlation<<<pairs, BLOCK>>>(d_answers, people, d_tau); });
    std::vector<float> tau = host_copy_of(d_tau, pairs);
    for (int k = 0; k < pairs; k += p.small ? 1 : 9) {
        int2 question = questions_of(k);
        const unsigned char *first = &answers[(size_t)question.x * people],
                            *second = &answers[(size_t)question.y * people];
        long sum = 0;
        for (int i = 0; i < people; i++)
            for (int j = i + 1; j < people; j++)
                sum += agreement(make_short2(first[i], second[i]), make_short2(first[j], second[j]));
        pair_near(&p, "tau", k, sum / (0.5 * people * (people - 1)), tau[k], 1e-5);
    }
    return pair_end(&p);
}
