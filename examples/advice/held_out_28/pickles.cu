// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf and powf become __expf and __powf.
// Why: the precise functions need several times the instructions, for digits that the result does not need.
#include "../common.h"

enum { BLOCK = 192 };

struct Bath {
    float celsius, seconds_per_step, reference, inverse_z;
    int steps;
};

// Pasteurisation of pickles: how many equivalent minutes at the reference temperature the core of each jar gets while
// it warms up in the bath. Each jar has its own first temperature and rate of warming.
__global__ void lethality(const float *start, const float *rate, float *minutes, int jars, Bath bath) {
    int jar = blockIdx.x * BLOCK + threadIdx.x;
    if (jar >= jars)
        return;
    float below = start[jar] - bath.celsius, k = -rate[jar], sum = 0;
    for (int s = 1; s <= bath.steps; s++) {
        float seconds = s * bath.seconds_per_step;
#ifdef AFTER
        float core = bath.celsius + 1.6f * below * __expf(k * seconds);
        sum += __powf(10.0f, (core - bath.reference) * bath.inverse_z);
#else
        float core = bath.celsius + 1.6f * below * expf(k * seconds);
        sum += powf(10.0f, (core - bath.reference) * bath.inverse_z);
#endif
    }
    minutes[jar] = sum * bath.seconds_per_step * (1 / 60.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pickles");
    int jars = p.small ? 1500 : 1200000;
    Bath bath = {88.0f, 20.0f, 80.0f, 1 / 8.9f, p.small ? 30 : 90};
    std::vector<float> start = random_floats(jars, 15, 60, 1), rate = random_floats(jars, 0.001f, 0.004f, 2);
    float *d_start = device_copy_of(start.data(), jars), *d_rate = device_copy_of(rate.data(), jars);
    float *d_minutes = device_array<float>(jars);
    pair_time(&p, [&] { lethality<<<(jars + BLOCK - 1) / BLOCK, BLOCK>>>(d_start, d_rate, d_minutes, jars, bath); });
    std::vector<float> minutes = host_copy_of(d_minutes, jars);
    for (int j = 0; j < jars; j += p.small ? 7 : 1201) {
        double sum = 0;
        for (int s = 1; s <= bath.steps; s++) {
            double warmed = exp(-rate[j] * (double)s * bath.seconds_per_step);
            double core = bath.celsius + 1.6 * (start[j] - bath.celsius) * warmed;
            sum += pow(10, (core - bath.reference) / 8.9);
        }
        pair_near(&p, "minutes", j, sum * bath.seconds_per_step / 60, minutes[j], 1e-3);
    }
    return pair_end(&p);
}
