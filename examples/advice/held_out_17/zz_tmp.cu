// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a tank's levels and rates are kept in variables and stored once, after the last hour.
// Why: each hour loads them from global memory and stores them there again, as any of the arrays might be another's.
#include "../common.h"

// Levels in the water of each tank.
struct Water {
    float *ammonia, *nitrite, *nitrate, *oxygen;
};

// How a tank is kept.
struct Keeping {
    float fish, bacteria, plants, bubbles;
};

// The water of many aquaria, hour by hour: fish give off ammonia, bacteria turn it into nitrite and nitrate.
__global__ void cycle(Water start, Water water, const Keeping *keeping, const float *feeding, int tanks, int hours) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tanks)
        return;
#ifdef AFTER
    Keeping keep = keeping[i];
    float ammonia = start.ammonia[i], nitrite = start.nitrite[i], nitrate = start.nitrate[i], oxygen = start.oxygen[i];
    for (int h = 0; h < hours; h++) {
        float first = keep.bacteria * ammonia * oxygen, second = 0.8f * keep.bacteria * nitrite * oxygen;
        ammonia += 0.01f * keep.fish * feeding[h] - first;
        nitrite += first - second;
        nitrate += second - keep.plants * nitrate;
        oxygen += keep.bubbles * (1.0f - oxygen) - 0.002f * keep.fish - 0.5f * (first + second);
    }
    water.ammonia[i] = ammonia;
    water.nitrite[i] = nitrite;
    water.nitrate[i] = nitrate;
    water.oxygen[i] = oxygen;
#else
    water.ammonia[i] = start.ammonia[i];
    water.nitrite[i] = start.nitrite[i];
    water.nitrate[i] = start.nitrate[i];
    water.oxygen[i] = start.oxygen[i];
    for (int h = 0; h < hours; h++) {
        float first = keeping[i].bacteria * water.ammonia[i] * water.oxygen[i];
        float second = 0.8f * keeping[i].bacteria * water.nitrite[i] * water.oxygen[i];
        water.ammonia[i] += 0.01f * keeping[i].fish * feeding[h] - first;
        water.nitrite[i] += first - second;
        water.nitrate[i] += second - keeping[i].plants * water.nitrate[i];
        water.oxygen[i] +=
            keeping[i].bubbles * (1.0f - water.oxygen[i]) - 0.002f * keeping[i].fish - 0.5f * (first + second);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aquarium");
    int n = p.small ? 1000 : 1 << 20, hours = p.small ? 96 : 96;
    std::vector<float> r = random_floats((size_t)n * 4, 0, 1, 1), levels[4], feeding(hours);
    std::vector<Keeping> keeping(n);
    for (int i = 0; i < n; i++) {
        const float *q = &r[(size_t)i * 4];
        keeping[i] = {1 + 9 * q[0], 0.02f + 0.1f * q[1], 0.001f + 0.01f * q[2], 0.2f + 0.3f * q[3]};
    }
    for (int h = 0; h < hours; h++)
        feeding[h] = h % 12 == 0 ? 3.0f : 0.5f;
    float *d_start[4], *d_end[4];
    for (int k = 0; k < 4; k++) {
        levels[k] = random_floats(n, 0.1f, 1, 2 + k);
        d_start[k] = device_copy_of(levels[k].data(), n);
        d_end[k] = device_array<float>(n);
    }
    Water start = {d_start[0], d_start[1], d_start[2], d_start[3]}, end = {d_end[0], d_end[1], d_end[2], d_end[3]};
    Keeping *d_keeping = device_copy_of(keeping.data(), n);
    float *d_feeding = device_copy_of(feeding.data(), hours);
    pair_time(&p, [&] { cycle<<<(n + 127) / 128, 128>>>(start, end, d_keeping, d_feeding, n, hours); });
    const char *names[4] = {"ammonia", "nitrite", "nitrate", "oxygen"};
    std::vector<float> got[4];
    for (int k = 0; k < 4; k++)
        got[k] = host_copy_of(d_end[k], n);
    for (int i = 0; i < n; i += p.small ? 3 : 97) {
        double w[4] = {levels[0][i], levels[1][i], levels[2][i], levels[3][i]};
        Keeping keep = keeping[i];
        for (int h = 0; h < hours; h++) {
            double first = keep.bacteria * w[0] * w[3], second = 0.8 * keep.bacteria * w[1] * w[3];
            w[0] += 0.01 * keep.fish * feeding[h] - first;
            w[1] += first - second;
            w[2] += second - keep.plants * w[2];
            w[3] += keep.bubbles * (1 - w[3]) - 0.002 * keep.fish - 0.5 * (first + second);
        }
        for (int k = 0; k < 4; k++)
            pair_near(&p, names[k], i, w[k], got[k][i], 1e-4);
    }
    return pair_end(&p);
}
