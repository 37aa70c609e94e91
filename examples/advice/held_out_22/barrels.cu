// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the contents of a barrel are kept in registers over the seasons, and written once at the end.
// Why: they are read from the arrays and written back every season, because the compiler cannot know that the arrays
// are not one another.
#include "../common.h"

enum { BLOCK = 256 };

// Whisky in barrels: what evaporates, what the wood gives off and the strength that is left after a number of seasons.
__global__ void age(const float *filled, const unsigned char *wood, const float *warmth, float *volume, float *strength,
                    float *tannin, int barrels, int seasons, int houses) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= barrels)
        return;
    float staves = wood[i] * (1.0f / 256);
#ifdef AFTER
    float litres = filled[i], spirit = 0.65f, tan = 0;
    for (int s = 0; s < seasons; s++) {
        float warm = warmth[s * houses + i % 16];
        float lost = 0.004f * warm * litres;
        litres -= lost;
        spirit -= 0.3f * lost * spirit * 0.01f;
        tan += staves * warm * (1 - tan) * 0.05f;
    }
    volume[i] = litres;
    strength[i] = spirit;
    tannin[i] = tan;
#else
    volume[i] = filled[i];
    strength[i] = 0.65f;
    tannin[i] = 0;
    for (int s = 0; s < seasons; s++) {
        float warm = warmth[s * houses + i % 16];
        float lost = 0.004f * warm * volume[i];
        volume[i] -= lost;
        strength[i] -= 0.3f * lost * strength[i] * 0.01f;
        tannin[i] += staves * warm * (1 - tannin[i]) * 0.05f;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "barrels");
    int n = p.small ? 4096 : 132 * 2048 * 3, seasons = p.small ? 8 : 24, houses = 16;
    std::vector<float> filled = random_floats(n, 150, 250, 1), warmth = random_floats(seasons * houses, 0, 1, 2);
    std::vector<unsigned char> wood(n);
    lcg_fill(wood.data(), n, 3, 256);
    float *d_filled = device_copy_of(filled.data(), n), *d_warmth = device_copy_of(warmth.data(), warmth.size()),
          *d_volume = device_array<float>(n), *d_strength = device_array<float>(n), *d_tannin = device_array<float>(n);
    unsigned char *d_wood = device_copy_of(wood.data(), n);
    pair_time(&p, [&] {
        age<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_filled, d_wood, d_warmth, d_volume, d_strength, d_tannin, n, seasons,
                                                houses);
    });
    std::vector<float> volume = host_copy_of(d_volume, n), strength = host_copy_of(d_strength, n),
                       tannin = host_copy_of(d_tannin, n);
    for (int i = 0; i < n; i += p.small ? 1 : 19) {
        double litres = filled[i], spirit = 0.65f, tan = 0;
        for (int s = 0; s < seasons; s++) {
            double warm = warmth[s * houses + i % 16], lost = 0.004 * warm * litres;
            litres -= lost;
            spirit -= 0.3 * lost * spirit * 0.01;
            tan += wood[i] / 256.0 * warm * (1 - tan) * 0.05;
        }
        pair_near(&p, "volume", i, litres, volume[i], 1e-4);
        pair_near(&p, "strength", i, spirit, strength[i], 1e-4);
        pair_near(&p, "tannin", i, tan, tannin[i], 1e-4);
    }
    return pair_end(&p);
}
