// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: exponentials, logarithms and quotients are computed by the fast intrinsics.
// Why: they are most of the work; the exact ones take many more instructions for digits that nobody needs.
#include "../common.h"

#ifdef AFTER
#define EXP(x) __expf(x)
#define LOG(x) __logf(x)
#define QUOTIENT(a, b) __fdividef(a, b)
#else
#define EXP(x) expf(x)
#define LOG(x) logf(x)
#define QUOTIENT(a, b) ((a) / (b))
#endif

constexpr int BLOCK = 512, LEVELS = 9;  // abilities -4, -3 to 4

struct Question {
    float slope, hardness, guess;  // how well it tells pupils apart, how hard it is, chance to be right by guessing
};

// The ability of pupils by the three-parameter logistic model, and how sure that is: mean and variance of the ability
// given the answers. One thread per pupil; a pupil answered the first so many questions of the exam. Bit q % 32 of
// right[q / 32 * pupils + i] tells whether answer q of pupil i is right.
__global__ void __launch_bounds__(BLOCK) grade(const Question *__restrict__ questions, const unsigned *right,
                                               const unsigned char *answered, float2 *grades, int pupils) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= pupils)
        return;
    float likely[LEVELS];
    for (int l = 0; l < LEVELS; l++)
        likely[l] = -0.5f * (l - 4) * (l - 4);
    unsigned bits = 0;
    for (int q = 0, count = answered[i]; q < count; q++, bits >>= 1) {
        if (q % 32 == 0)
            bits = right[(size_t)(q / 32) * pupils + i];
        Question question = questions[q];
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            float e = EXP(question.slope * (question.hardness - (l - 4)));
            float knows = QUOTIENT(1 - question.guess, 1 + e);
            likely[l] += LOG(bits & 1 ? question.guess + knows : e * knows);
        }
    }
    float most = likely[0], total = 0, mean = 0, square = 0;
    for (int l = 1; l < LEVELS; l++)
        most = fmaxf(most, likely[l]);
    for (int l = 0; l < LEVELS; l++) {
        float weight = EXP(likely[l] - most);
        total += weight;
        mean += weight * (l - 4);
        square += weight * (l - 4) * (l - 4);
    }
    mean = QUOTIENT(mean, total);
    grades[i] = make_float2(mean, QUOTIENT(square, total) - mean * mean);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "exams");
    int pupils = p.small ? 300 : 132 * 1024, count = p.small ? 12 : 64, words = (count + 31) / 32;
    std::vector<float> slope = random_floats(count, 0.5f, 2.0f, 1), hardness = random_floats(count, -2.5f, 2.5f, 2),
                       guess = random_floats(count, 0.05f, 0.3f, 3);
    std::vector<Question> questions(count);
    for (int q = 0; q < count; q++)
        questions[q] = {slope[q], hardness[q], guess[q]};
    std::vector<unsigned> right((size_t)words * pupils);
    std::vector<unsigned char> answered(pupils);
    unsigned seed = 4;
    for (int i = 0; i < pupils; i++) {
        float ability = lcg_next(&seed, 600) / 100.0f - 3;
        answered[i] = count / 2 + lcg_next(&seed, count / 2 + 1);
        for (int q = 0; q < answered[i]; q++) {
            bool knows = ability + lcg_next(&seed, 200) / 100.0f - 1 > hardness[q] || lcg_next(&seed, 5) == 0;
            right[(size_t)(q / 32) * pupils + i] |= (unsigned)knows << q % 32;
        }
    }
    Question *d_questions = device_copy_of(questions.data(), count);
    unsigned *d_right = device_copy_of(right.data(), right.size());
    unsigned char *d_answered = device_copy_of(answered.data(), pupils);
    float2 *d_grades = device_array<float2>(pupils);
    pair_time(&p, [&] {
        grade<<<(pupils + BLOCK - 1) / BLOCK, BLOCK>>>(d_questions, d_right, d_answered, d_grades, pupils);
    });
    std::vector<float2> grades = host_copy_of(d_grades, pupils);
    for (int i = 0; i < pupils; i += p.small ? 1 : 83) {
        double total = 0, mean = 0, square = 0;
        for (int level = -4; level <= 4; level++) {
            double weight = exp(-0.5 * level * level);
            for (int q = 0; q < answered[i]; q++) {
                const Question &question = questions[q];
                double knows = (1 - (double)question.guess) / (1 + exp(question.slope * (question.hardness - level)));
                bool is_right = right[(size_t)(q / 32) * pupils + i] >> q % 32 & 1;
                weight *= is_right ? question.guess + knows : 1 - question.guess - knows;
            }
            total += weight;
            mean += weight * level;
            square += weight * level * level;
        }
        mean /= total;
        pair_near(&p, "mean", i, mean, grades[i].x, 1e-3);
        pair_near(&p, "variance", i, square / total - mean * mean, grades[i].y, 1e-3);
    }
    return pair_end(&p);
}
