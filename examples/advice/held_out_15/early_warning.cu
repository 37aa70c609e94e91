// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the readings are stored by hour instead of by patient, so that neighbouring lanes read neighbouring words.
// Why: a lane follows one patient, and the readings of two patients are 72 words apart.
#include "../common.h"

enum { BLOCK = 128, HOURS = 72 };

static __host__ __device__ size_t reading(int patient, int hour, int patients) {
#ifdef AFTER
    return (size_t)hour * patients + patient;
#else
    return (size_t)patient * HOURS + hour;
#endif
}

// Points for pulse, oxygen in the blood and breaths a minute, as a ward's early-warning chart has them.
static __host__ __device__ int points(float pulse, float oxygen, float breaths) {
    int sum = 0;
    if (pulse <= 40.0f || pulse >= 131.0f)
        sum += 3;
    else if (pulse >= 111.0f)
        sum += 2;
    else if (pulse <= 50.0f || pulse >= 91.0f)
        sum += 1;
    sum += oxygen <= 91.0f ? 3 : oxygen <= 93.0f ? 2 : oxygen <= 95.0f ? 1 : 0;
    sum += breaths <= 8.0f || breaths >= 25.0f ? 3 : breaths >= 21.0f ? 2 : breaths <= 11.0f ? 1 : 0;
    return sum;
}

// The worst chart of each patient, and for how many hours in a row a doctor should have been called.
__global__ void watch(const float *pulse, const float *oxygen, const float *breaths, int *worst, int *longest,
                      int patients) {
    int patient = blockIdx.x * BLOCK + threadIdx.x, top = 0, run = 0, best = 0;
    for (int hour = 0; hour < HOURS; hour++) {
        size_t at = reading(patient, hour, patients);
        int sum = points(pulse[at], oxygen[at], breaths[at]);
        top = max(top, sum);
        run = sum >= 5 ? run + 1 : 0;
        best = max(best, run);
    }
    worst[patient] = top;
    longest[patient] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "early_warning");
    int patients = p.small ? 1024 : 1 << 17;
    size_t n = (size_t)patients * HOURS;
    std::vector<float> pulse = random_floats(n, 45, 125, 1), oxygen = random_floats(n, 90, 100, 2),
                       breaths = random_floats(n, 9, 26, 3);
    float *d_pulse = device_copy_of(pulse.data(), n), *d_oxygen = device_copy_of(oxygen.data(), n),
          *d_breaths = device_copy_of(breaths.data(), n);
    int *d_worst = device_array<int>(patients), *d_longest = device_array<int>(patients);
    pair_time(&p,
              [&] { watch<<<patients / BLOCK, BLOCK>>>(d_pulse, d_oxygen, d_breaths, d_worst, d_longest, patients); });
    std::vector<int> worst = host_copy_of(d_worst, patients), longest = host_copy_of(d_longest, patients);
    for (int i = 0; i < patients; i += 13) {
        int top = 0, run = 0, best = 0;
        for (int hour = 0; hour < HOURS; hour++) {
            size_t at = reading(i, hour, patients);
            int sum = points(pulse[at], oxygen[at], breaths[at]);
            top = std::max(top, sum);
            run = sum >= 5 ? run + 1 : 0;
            best = std::max(best, run);
        }
        pair_near(&p, "worst", i, top, worst[i], 0);
        pair_near(&p, "longest", i, best, longest[i], 0);
    }
    return pair_end(&p);
}
