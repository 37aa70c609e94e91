// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the law of mortality is a template parameter instead of a pointer to a function.
// Why: a call through a pointer in every month saves and moves registers, and nothing is reordered across it.
#include "../common.h"

enum { BLOCK = 128 };

const float MONTH = 1.0f / 12.0f;

struct Insured {
    float age, level, slope;
};

typedef float (*Law)(float age, float level, float slope);

// Deaths in a year among those of an age: Gompertz and Makeham.
static __device__ float makeham(float age, float level, float slope) { return 0.0005f + level * exp2f(slope * age); }

__device__ Law d_makeham = makeham;

// What a pension of one franc a month is worth, for many contracts.
#ifdef AFTER
template <Law law> __global__ void annuities(const Insured *insured, float *worth, float interest, int months) {
#else
__global__ void annuities(const Insured *insured, float *worth, float interest, int months, Law law) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Insured own = insured[i];
    float alive = 1, sum = 0, keep = 1.0f - interest * MONTH;
    for (int month = 0; month < months; month++) {
        float deaths = law(own.age + (float)month * MONTH, own.level, own.slope);
        alive *= keep * (1.0f - fminf(deaths * MONTH, 1.0f));
        sum += alive;
    }
    worth[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "annuities");
    int n = p.small ? 512 : 1 << 18, months = p.small ? 36 : 480;
    std::vector<float> ages = random_floats(n, 55, 75, 1), levels = random_floats(n, 1e-5f, 4e-5f, 2),
                       slopes = random_floats(n, 0.13f, 0.16f, 3);
    std::vector<Insured> insured(n);
    for (int i = 0; i < n; i++)
        insured[i] = {ages[i], levels[i], slopes[i]};
    Insured *d_insured = device_copy_of(insured.data(), n);
    float *d_worth = device_array<float>(n), interest = 0.02f;
#ifdef AFTER
    pair_time(&p, [&] { annuities<makeham><<<n / BLOCK, BLOCK>>>(d_insured, d_worth, interest, months); });
#else
    Law law;
    CUDA_CHECK(cudaMemcpyFromSymbol(&law, d_makeham, sizeof law));
    pair_time(&p, [&] { annuities<<<n / BLOCK, BLOCK>>>(d_insured, d_worth, interest, months, law); });
#endif
    std::vector<float> worth = host_copy_of(d_worth, n);
    for (int i = 0; i < n; i += 83) {
        double alive = 1, sum = 0;
        for (int month = 0; month < months; month++) {
            double deaths = 0.0005 + levels[i] * exp2(slopes[i] * (ages[i] + month / 12.0));
            alive *= (1 - interest / 12.0) * (1 - std::min(deaths / 12, 1.0));
            sum += alive;
        }
        pair_near(&p, "worth", i, sum, worth[i], 1e-3);
    }
    return pair_end(&p);
}
