// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: the tax of all brackets is added up with minima and maxima, without a question which bracket an income is in.
// Why: neighbouring lanes have incomes in different brackets and take different branches in each year.
#include "../common.h"

enum { BLOCK = 256, YEARS = 24 };

// Tax on an income in thousands; it rises with the income within the second and third bracket.
static __host__ __device__ inline float tax_of(float income) {
#ifdef AFTER
    float second = fminf(fmaxf(income - 12.0f, 0.0f), 18.0f), third = fminf(fmaxf(income - 30.0f, 0.0f), 40.0f);
    float fourth = fminf(fmaxf(income - 70.0f, 0.0f), 180.0f), fifth = fmaxf(income - 250.0f, 0.0f);
    return (0.14f + 0.005f * second) * second + (0.24f + 0.002f * third) * third + 0.42f * fourth + 0.45f * fifth;
#else
    const float upto30 = (0.14f + 0.005f * 18.0f) * 18.0f, upto70 = upto30 + (0.24f + 0.002f * 40.0f) * 40.0f;
    if (income <= 12.0f)
        return 0;
    if (income <= 30.0f) {
        float over = income - 12.0f;
        return (0.14f + 0.005f * over) * over;
    }
    if (income <= 70.0f) {
        float over = income - 30.0f;
        return upto30 + (0.24f + 0.002f * over) * over;
    }
    if (income <= 250.0f)
        return upto70 + 0.42f * (income - 70.0f);
    return upto70 + 0.42f * 180.0f + 0.45f * (income - 250.0f);
#endif
}

// What persons pay in tax while they work, if their income changes by a share each year and they save a part.
__global__ void tax_brackets(const float *incomes, const float *rises, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float income = incomes[i], rise = rises[i], paid = 0;
    for (int y = 0; y < YEARS; y++) {
        float tax = tax_of(income);
        paid += tax;
        income = income * rise + 0.01f * (income - tax);
    }
    out[i] = paid;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tax_brackets");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> incomes = random_floats(n, 5, 300, 1), rises = random_floats(n, 0.9f, 1.1f, 2);
    float *d_incomes = device_copy_of(incomes.data(), n), *d_rises = device_copy_of(rises.data(), n),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { tax_brackets<<<n / BLOCK, BLOCK>>>(d_incomes, d_rises, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 199) {
        float income = incomes[i];
        double paid = 0;
        for (int y = 0; y < YEARS; y++) {
            float tax = tax_of(income);
            paid += tax;
            income = income * rises[i] + 0.01f * (income - tax);
        }
        pair_near(&p, "paid", i, paid, out[i], 1e-3);
    }
    return pair_end(&p);
}
