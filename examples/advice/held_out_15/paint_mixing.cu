// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the literals and the square root are of single precision.
// Why: a literal without an f makes the reflectance of each band a chain of double precision and of conversions.
#include "../common.h"

enum { BLOCK = 256, PIGMENTS = 4, BANDS = 16 };

__constant__ float absorbs[PIGMENTS][BANDS], scatters[PIGMENTS][BANDS], wanted[BANDS], weight[BANDS];

// How far the colour of each recipe of four pigments is from the wanted one: Kubelka and Munk with Saunderson's
// surface.
__global__ void mismatch(const float4 *recipes, const float *glosses, float *misses, int *banned) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 grams = recipes[i];
    float gloss = glosses[i], miss = 0;
    int dark = 0;
    for (int b = 0; b < BANDS; b++) {
        float k = grams.x * absorbs[0][b] + grams.y * absorbs[1][b] + grams.z * absorbs[2][b] + grams.w * absorbs[3][b];
        float s =
            grams.x * scatters[0][b] + grams.y * scatters[1][b] + grams.z * scatters[2][b] + grams.w * scatters[3][b];
        float q = k / s;
#ifdef AFTER
        float inner = 1.0f + q - sqrtf(q * q + 2.0f * q);
        float seen = gloss + (1.0f - gloss) * 0.4f * inner / (1.0f - 0.6f * inner);
#else
        float inner = 1.0 + q - sqrt(q * q + 2.0 * q);
        float seen = gloss + (1.0 - gloss) * 0.4 * inner / (1.0 - 0.6 * inner);
#endif
        if (grams.w > 0.9f && b < BANDS / 2)  // the black pigment must not rule
            dark++;
        float d = seen - wanted[b];
        miss += weight[b] * d * d;
    }
    misses[i] = miss;
    banned[i] = dark;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "paint_mixing");
    int n = p.small ? 1024 : 1 << 20;
    std::vector<float> grams = random_floats(4 * (size_t)n, 0.05f, 1, 1), glosses = random_floats(n, 0.02f, 0.06f, 2),
                       k = random_floats(PIGMENTS * BANDS, 0.05f, 2, 3),
                       s = random_floats(PIGMENTS * BANDS, 0.3f, 2, 4), want = random_floats(BANDS, 0.1f, 0.9f, 5),
                       share = random_floats(BANDS, 0.2f, 1, 6);
    CUDA_CHECK(cudaMemcpyToSymbol(absorbs, k.data(), sizeof absorbs));
    CUDA_CHECK(cudaMemcpyToSymbol(scatters, s.data(), sizeof scatters));
    CUDA_CHECK(cudaMemcpyToSymbol(wanted, want.data(), sizeof wanted));
    CUDA_CHECK(cudaMemcpyToSymbol(weight, share.data(), sizeof weight));
    float4 *d_recipes = (float4 *)device_copy_of(grams.data(), grams.size());
    float *d_glosses = device_copy_of(glosses.data(), n), *d_misses = device_array<float>(n);
    int *d_banned = device_array<int>(n);
    pair_time(&p, [&] { mismatch<<<n / BLOCK, BLOCK>>>(d_recipes, d_glosses, d_misses, d_banned); });
    std::vector<float> misses = host_copy_of(d_misses, n);
    std::vector<int> banned = host_copy_of(d_banned, n);
    for (int i = 0; i < n; i += 101) {
        double miss = 0;
        for (int b = 0; b < BANDS; b++) {
            double ks = 0, ss = 0;
            for (int g = 0; g < PIGMENTS; g++) {
                ks += (double)grams[4 * (size_t)i + g] * k[g * BANDS + b];
                ss += (double)grams[4 * (size_t)i + g] * s[g * BANDS + b];
            }
            double q = ks / ss, inner = 1 + q - sqrt(q * q + 2 * q);
            double d = glosses[i] + (1.0 - glosses[i]) * 0.4 * inner / (1 - 0.6 * inner) - want[b];
            miss += share[b] * d * d;
        }
        pair_near(&p, "miss", i, miss, misses[i], 1e-4);
        pair_near(&p, "banned", i, grams[4 * (size_t)i + 3] > 0.9f ? BANDS / 2 : 0, banned[i], 0);
    }
    return pair_end(&p);
}
