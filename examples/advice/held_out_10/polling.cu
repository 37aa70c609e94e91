// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: answers lie by question, not by person.
// Why: neighbouring lanes load answers that lie as far apart as a person has answers.
#include "../common.h"

enum { BLOCK = 256, QUESTIONS = 24 };

// How much each person agrees with the answers of a party.
__global__ void polling(const float *answers, const float *party, float *out, int persons) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float apart = 0;
    for (int q = 0; q < QUESTIONS; q++) {
#ifdef AFTER
        float answer = answers[q * persons + i];
#else
        float answer = answers[i * QUESTIONS + q];
#endif
        apart += fabsf(answer - party[q]);
    }
    out[i] = 1.0f - apart / QUESTIONS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "polling");
    int persons = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> by_person = random_floats((size_t)persons * QUESTIONS, 0, 1, 1),
                       party = random_floats(QUESTIONS, 0, 1, 2);
#ifdef AFTER
    std::vector<float> answers(by_person.size());
    for (int i = 0; i < persons; i++)
        for (int q = 0; q < QUESTIONS; q++)
            answers[(size_t)q * persons + i] = by_person[(size_t)i * QUESTIONS + q];
#else
    const std::vector<float> &answers = by_person;
#endif
    float *d_answers = device_copy_of(answers.data(), answers.size()),
          *d_party = device_copy_of(party.data(), QUESTIONS), *d_out = device_array<float>(persons);
    pair_time(&p, [&] { polling<<<persons / BLOCK, BLOCK>>>(d_answers, d_party, d_out, persons); });
    std::vector<float> out = host_copy_of(d_out, persons);
    for (int i = 0; i < persons; i += 97) {
        double apart = 0;
        for (int q = 0; q < QUESTIONS; q++)
            apart += fabs((double)by_person[(size_t)i * QUESTIONS + q] - party[q]);
        pair_near(&p, "agreement", i, 1 - apart / QUESTIONS, out[i], 1e-4);
    }
    return pair_end(&p);
}
