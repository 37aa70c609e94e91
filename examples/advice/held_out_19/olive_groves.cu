// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the readings are kept day by day instead of tree by tree.
// Why: neighbouring threads have neighbouring trees, whose readings of a day lie a whole season apart.
#include "../common.h"

enum { BLOCK = 256 };

__host__ __device__ inline size_t place(int tree, int day, int trees, int days) {
#ifdef AFTER
    (void)days;
    return (size_t)day * trees + tree;
#else
    (void)trees;
    return (size_t)tree * days + day;
#endif
}

// Olive flies by degree days: how many generations hatch on a tree, and the day on which spraying would do most.
__global__ void flies(const float *warmth, const float *shade, float *broods, int *spraying, int trees, int days) {
    int tree = blockIdx.x * BLOCK + threadIdx.x;
    if (tree >= trees)
        return;
    float shaded = shade[tree], degrees = 0, pupae = 1, adults = 0, hatched = 0, worst = 0;
    int when = 0;
    for (int day = 0; day < days; day++) {
        float warm = warmth[place(tree, day, trees, days)] - 4.0f * shaded;
        float gain = fminf(fmaxf(warm - 9.0f, 0.0f), 22.0f);
        degrees += gain;
        float emerging = pupae * gain * 0.0025f;
        pupae += 0.02f * adults * gain * 0.1f - emerging;
        adults += emerging - 0.06f * adults * (1.0f + 0.02f * gain);
        hatched += emerging;
        float harm = adults * (1.0f - 0.5f * shaded);
        if (harm > worst) {
            worst = harm;
            when = day;
        }
    }
    broods[tree] = hatched + 0.001f * degrees;
    spraying[tree] = when;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "olive_groves");
    int trees = p.small ? 512 : 132 * 2048, days = p.small ? 14 : 128;
    std::vector<float> values = random_floats((size_t)trees * days, 5, 34, 1), shade = random_floats(trees, 0, 1, 2),
                       warmth((size_t)trees * days);
    for (int tree = 0; tree < trees; tree++)
        for (int day = 0; day < days; day++)
            warmth[place(tree, day, trees, days)] = values[(size_t)tree * days + day];
    float *d_warmth = device_copy_of(warmth.data(), warmth.size()), *d_shade = device_copy_of(shade.data(), trees),
          *d_broods = device_array<float>(trees);
    int *d_spraying = device_array<int>(trees);
    pair_time(&p, [&] {
        flies<<<(trees + BLOCK - 1) / BLOCK, BLOCK>>>(d_warmth, d_shade, d_broods, d_spraying, trees, days);
    });
    std::vector<float> broods = host_copy_of(d_broods, trees);
    std::vector<int> spraying = host_copy_of(d_spraying, trees);
    for (int tree = 0; tree < trees; tree += p.small ? 5 : 67) {
        double shaded = shade[tree], degrees = 0, pupae = 1, adults = 0, hatched = 0, worst = 0, chosen = 0;
        for (int day = 0; day < days; day++) {
            double warm = values[(size_t)tree * days + day] - 4 * shaded,
                   gain = std::min(std::max(warm - 9, 0.0), 22.0), emerging = pupae * gain * 0.0025;
            degrees += gain;
            pupae += 0.02 * adults * gain * 0.1 - emerging;
            adults += emerging - 0.06 * adults * (1 + 0.02 * gain);
            hatched += emerging;
            double harm = adults * (1 - 0.5 * shaded);
            worst = std::max(worst, harm);
            if (day == spraying[tree])
                chosen = harm;
        }
        pair_near(&p, "broods", tree, hatched + 0.001 * degrees, broods[tree], 1e-3);
        pair_near(&p, "harm on the day", tree, worst, chosen, 1e-4);
    }
    return pair_end(&p);
}
