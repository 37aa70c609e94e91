// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the estimate is computed in float, not in double.
// Why: questions come and skills leave as floats, and a skill has an error of a tenth anyway; an exponential and a
// division in double take many more instructions, at half the rate.
#include "../common.h"

#include <cstdint>

#ifdef AFTER
typedef float Real;
#define EXP(x) expf(x)
#else
typedef double Real;
#define EXP(x) exp(x)
#endif

enum { BLOCK = 128, MOST = 64, ROUNDS = 6 };

struct Question {
    float steep, hard;
};

__constant__ Question questions[MOST];

// How skilled each contestant of a quiz is, from which questions were answered right: item response theory with two
// parameters and a normal prior, by Newton's method.
__global__ void estimate(const uint64_t *right, float *skills, float *surety, int people, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= people)
        return;
    uint64_t answers = right[i];
    Real skill = 0, firm = 1;
    for (int round = 0; round < ROUNDS; round++) {
        Real pull = -skill;
        firm = 1;
        for (int k = 0; k < count; k++) {
            Real steep = Real(1.7) * questions[k].steep;
            Real chance = 1 / (1 + EXP(steep * (questions[k].hard - skill)));
            Real got = answers >> k & 1 ? 1 : 0;
            pull += steep * (got - chance);
            firm += steep * steep * chance * (1 - chance);
        }
        skill += pull / firm;
    }
    skills[i] = (float)skill;
    surety[i] = (float)firm;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quizzes");
    int people = p.small ? 4096 : 132 * 2048, count = p.small ? 12 : 56;
    std::vector<float> random = random_floats(2 * MOST, 0, 1, 1);
    Question host[MOST];
    for (int k = 0; k < MOST; k++)
        host[k] = {0.4f + 0.6f * random[2 * k], 4 * random[2 * k + 1] - 2};
    CUDA_CHECK(cudaMemcpyToSymbol(questions, host, sizeof host));
    std::vector<uint64_t> right(people);
    unsigned seed = 2;
    for (uint64_t &mask : right)
        for (int part = 0; part < 4; part++)
            mask = mask << 16 | lcg_next(&seed, 1 << 16);
    uint64_t *d_right = device_copy_of(right.data(), people);
    float *d_skills = device_array<float>(people), *d_surety = device_array<float>(people);
    int blocks = (people + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { estimate<<<blocks, BLOCK>>>(d_right, d_skills, d_surety, people, count); });
    std::vector<float> skills = host_copy_of(d_skills, people), surety = host_copy_of(d_surety, people);
    for (int i = 0; i < people; i += p.small ? 1 : 67) {
        double skill = 0, firm = 1;
        for (int round = 0; round < ROUNDS; round++) {
            double pull = -skill;
            firm = 1;
            for (int k = 0; k < count; k++) {
                double steep = 1.7 * host[k].steep, chance = 1 / (1 + exp(steep * (host[k].hard - skill)));
                pull += steep * ((double)(right[i] >> k & 1) - chance);
                firm += steep * steep * chance * (1 - chance);
            }
            skill += pull / firm;
        }
        pair_near(&p, "skill", i, skill, skills[i], 1e-3);
        pair_near(&p, "surety", i, firm, surety[i], 1e-3);
    }
    return pair_end(&p);
}
