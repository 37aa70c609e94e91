// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the log is stored hour by hour instead of hive by hive.
// Why: neighbouring lanes follow neighbouring hives, whose logs lie a whole season apart.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
#define AT(hive, hour) ((hour)*hives + (hive))
#else
#define AT(hive, hour) ((hive)*hours + (hour))
#endif

// Finds the hour in which each hive swarmed, if it did: it turns warm and loses weight at once.
__global__ void swarming(const float *warmth, const float *weight, int *swarmed, float *strength, int hives,
                         int hours) {
    int hive = blockIdx.x * BLOCK + threadIdx.x, when = -1;
    float usual_warmth = warmth[AT(hive, 0)], usual_weight = weight[AT(hive, 0)], most = 0;
    for (int hour = 1; hour < hours; hour++) {
        float warmer = warmth[AT(hive, hour)] - usual_warmth, lighter = usual_weight - weight[AT(hive, hour)];
        float evidence = fmaxf(warmer, 0.0f) * fmaxf(lighter, 0.0f);
        if (evidence > most) {
            most = evidence;
            when = hour;
        }
        usual_warmth += 0.1f * warmer;
        usual_weight -= 0.02f * lighter;
    }
    swarmed[hive] = when;
    strength[hive] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "beehives");
    int hives = p.small ? 512 : 1 << 15, hours = p.small ? 48 : 256;
    std::vector<float> warmth = random_floats((size_t)hives * hours, 33, 36, 1),
                       weight = random_floats((size_t)hives * hours, 40, 44, 2);
    float *d_warmth = device_copy_of(warmth.data(), warmth.size()),
          *d_weight = device_copy_of(weight.data(), weight.size()), *d_strength = device_array<float>(hives);
    int *d_swarmed = device_array<int>(hives);
    pair_time(&p, [&] { swarming<<<hives / BLOCK, BLOCK>>>(d_warmth, d_weight, d_swarmed, d_strength, hives, hours); });
    std::vector<float> strength = host_copy_of(d_strength, hives);
    std::vector<int> swarmed = host_copy_of(d_swarmed, hives);
    for (int hive = 0; hive < hives; hive += 37) {
        double usual_warmth = warmth[AT(hive, 0)], usual_weight = weight[AT(hive, 0)], most = 0, at_found = 0;
        for (int hour = 1; hour < hours; hour++) {
            double warmer = warmth[AT(hive, hour)] - usual_warmth, lighter = usual_weight - weight[AT(hive, hour)];
            double evidence = std::max(warmer, 0.0) * std::max(lighter, 0.0);
            most = std::max(most, evidence);
            if (hour == swarmed[hive])
                at_found = evidence;
            usual_warmth += 0.1f * warmer;
            usual_weight -= 0.02f * lighter;
        }
        pair_near(&p, "strength", hive, most, strength[hive], 1e-4);
        pair_near(&p, "swarmed", hive, most, at_found, 1e-4);
    }
    return pair_end(&p);
}
