// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: the last sixteen doses are moved along an array instead of being found by an index that runs in a circle.
// Why: an array with an index that is known only at run time is in local memory.
#include "../common.h"

enum { BLOCK = 128, ACTIVE = 16 };

__constant__ float action[ACTIVE];  // what share of a dose works in each quarter of an hour after it

// An insulin pump's controller for many patients: after a day the glucose, its peak and all the insulin given.
__global__ void control(const float *meals, const float *exercise, const float *sensitivity, float *glucose,
                        float *peaks, float *insulin, int patients, int quarters) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float level = 110, peak = 0, sum = 0, own = sensitivity[i], doses[ACTIVE];
    for (int k = 0; k < ACTIVE; k++)
        doses[k] = 0;
    for (int t = 0; t < quarters; t++) {
        float meal = meals[t * patients + i], moved = exercise[t * patients + i];
        float working = 0, waiting = 0, left = 0;
#pragma unroll
        for (int k = ACTIVE - 1; k >= 0; k--) {
#ifdef AFTER
            float dose = doses[k];
#else
            float dose = doses[(t - 1 - k) & (ACTIVE - 1)];
#endif
            working += action[k] * dose;
            waiting += left * dose;
            left += action[k];
        }
        float dose = fmaxf(0.02f * (level - 100.0f) - waiting, 0.0f);
        if (meal > 0.0f)
            dose += 0.05f * meal;
        level += 0.5f * meal - own * working - 0.04f * moved * (level - 70.0f) + 2.0f;
        level = fmaxf(level, 40.0f);
        peak = fmaxf(peak, level);
        sum += dose;
#ifdef AFTER
#pragma unroll
        for (int k = ACTIVE - 1; k > 0; k--)
            doses[k] = doses[k - 1];
        doses[0] = dose;
#else
        doses[t & (ACTIVE - 1)] = dose;
#endif
    }
    glucose[i] = level;
    peaks[i] = peak;
    insulin[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "blood_glucose");
    int patients = p.small ? 512 : 1 << 17, quarters = p.small ? 32 : 96;
    size_t n = (size_t)patients * quarters;
    std::vector<float> meals = random_floats(n, -120, 30, 1), exercise = random_floats(n, 0, 1, 2),
                       sensitivity = random_floats(patients, 8, 14, 3);
    for (float &m : meals)
        m = std::max(m, 0.0f);
    float share[ACTIVE] = {0.01f, 0.03f, 0.06f, 0.09f, 0.11f, 0.12f, 0.11f, 0.1f,
                           0.09f, 0.08f, 0.06f, 0.05f, 0.04f, 0.03f, 0.01f, 0.01f};
    CUDA_CHECK(cudaMemcpyToSymbol(action, share, sizeof action));
    float *d_meals = device_copy_of(meals.data(), n), *d_exercise = device_copy_of(exercise.data(), n),
          *d_sensitivity = device_copy_of(sensitivity.data(), patients), *d_glucose = device_array<float>(patients),
          *d_peaks = device_array<float>(patients), *d_insulin = device_array<float>(patients);
    pair_time(&p, [&] {
        control<<<patients / BLOCK, BLOCK>>>(d_meals, d_exercise, d_sensitivity, d_glucose, d_peaks, d_insulin,
                                             patients, quarters);
    });
    std::vector<float> glucose = host_copy_of(d_glucose, patients), peaks = host_copy_of(d_peaks, patients),
                       insulin = host_copy_of(d_insulin, patients);
    for (int i = 0; i < patients; i += 31) {
        double level = 110, peak = 0, sum = 0;
        std::vector<double> doses(ACTIVE, 0.0);  // the latest one is the last
        for (int t = 0; t < quarters; t++) {
            double meal = meals[(size_t)t * patients + i], moved = exercise[(size_t)t * patients + i];
            double working = 0, waiting = 0, left = 0;
            for (int k = ACTIVE - 1; k >= 0; k--) {
                double dose = doses[doses.size() - 1 - k];
                working += share[k] * dose;
                waiting += left * dose;
                left += share[k];
            }
            double dose = std::max(0.02 * (level - 100) - waiting, 0.0) + 0.05 * meal;
            level = std::max(level + 0.5 * meal - sensitivity[i] * working - 0.04 * moved * (level - 70) + 2, 40.0);
            peak = std::max(peak, level);
            sum += dose;
            doses.push_back(dose);
        }
        pair_near(&p, "glucose", i, level, glucose[i], 1e-3);
        pair_near(&p, "peak", i, peak, peaks[i], 1e-3);
        pair_near(&p, "insulin", i, sum, insulin[i], 1e-3);
    }
    return pair_end(&p);
}
