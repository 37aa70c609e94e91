// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the number of doses a wine can have is a power of two, so a dose is masked off the number of the blend, and
//      the rest shifted; before, it was the remainder of a division and the rest its quotient.
// Why: the GPU has no integer division; each is a dozen instructions, and there is one for each wine of a blend.
#include "../common.h"

enum { BLOCK = 256, WINES = 7 };

// What the laboratory measured of one wine: alcohol, acid, tannin, sugar; and its price and how much there is.
struct Wine {
    float alcohol, acid, tannin, sugar, price, barrels;
};

struct Cellar {
    Wine wine[WINES];
};

// What the winemaker wants, and how much a miss of it hurts.
struct Style {
    float alcohol, acid, tannin, sugar, price;
    float alcohol_weight, acid_weight, tannin_weight, sugar_weight, price_weight;
};

// Doses of a blend are the digits of its number, `doses` of them; log2_doses says the same.
__host__ __device__ inline unsigned take_dose(unsigned *blend, unsigned doses, unsigned log2_doses) {
#ifdef AFTER
    unsigned dose = *blend & (doses - 1);
    *blend >>= log2_doses;
#else
    unsigned dose = *blend % doses;
    *blend /= doses;
#endif
    return dose;
}

__host__ __device__ inline float miss(float is, float wanted, float weight) {
    float d = is - wanted;
    return weight * d * d;
}

// The lower, the better.
__host__ __device__ inline float score(unsigned blend, const Cellar &cellar, const Style &style, unsigned doses,
                                       unsigned log2_doses) {
    float volume = 0.001f, alcohol = 0, acid = 0, tannin = 0, sugar = 0, price = 0, short_of = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int w = 0; w < WINES; w++) {
        const Wine &wine = cellar.wine[w];
        float dose = (float)take_dose(&blend, doses, log2_doses);
        volume += dose;
        alcohol += dose * wine.alcohol;
        acid += dose * wine.acid;
        tannin += dose * wine.tannin;
        sugar += dose * wine.sugar;
        price += dose * wine.price;
        short_of += fmaxf(dose - wine.barrels, 0.0f);
    }
    float part = 1 / volume;
    return miss(alcohol * part, style.alcohol, style.alcohol_weight) +
           miss(acid * part, style.acid, style.acid_weight) + miss(tannin * part, style.tannin, style.tannin_weight) +
           miss(sugar * part, style.sugar, style.sugar_weight) +
           style.price_weight * fmaxf(price * part - style.price, 0.0f) + short_of;
}

// Each thread tries `tries` blends out of all, far apart from each other, and keeps its best.
__global__ void __launch_bounds__(BLOCK) taste(Cellar cellar, Style style, unsigned doses, unsigned log2_doses,
                                               unsigned blends, int tries, float *best_score, unsigned *best_blend) {
    unsigned thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    float best = 1e30f;
    unsigned chosen = 0;
    for (int i = 0; i < tries; i++) {
        unsigned blend = (thread + i * threads) * 2654435761u & (blends - 1);
        float s = score(blend, cellar, style, doses, log2_doses);
        if (s < best) {
            best = s;
            chosen = blend;
        }
    }
    best_score[thread] = best;
    best_blend[thread] = chosen;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cuvees");
    unsigned log2_doses = 4, doses = 1u << log2_doses, blends = 1u << (WINES * log2_doses);
    int blocks = p.small ? 16 : 132 * 8, threads = blocks * BLOCK, tries = p.small ? 4 : 64;
    Cellar cellar;
    std::vector<float> r = random_floats(WINES * 6, 0, 1, 1);
    for (int w = 0; w < WINES; w++) {
        const float *q = &r[w * 6];
        cellar.wine[w] = {11.5f + 3 * q[0], 4 + 4 * q[1], 1 + 3 * q[2], 1 + 6 * q[3], 2 + 9 * q[4], 5 + 15 * q[5]};
    }
    Style style = {13, 5.8f, 2.4f, 2.5f, 5, 4, 2, 3, 1, 0.5f};
    float *d_score = device_array<float>(threads);
    unsigned *d_blend = device_array<unsigned>(threads);
    pair_time(&p, [&] {
        taste<<<blocks, BLOCK>>>(cellar, style, doses, log2_doses, blends, tries, d_score, d_blend);
    });
    std::vector<float> best = host_copy_of(d_score, threads);
    std::vector<unsigned> blend = host_copy_of(d_blend, threads);
    for (int t = 0; t < threads; t += p.small ? 3 : 31) {
        float least = 1e30f;
        for (int i = 0; i < tries; i++)
            least = std::min(least, score((unsigned)(t + i * threads) * 2654435761u & (blends - 1), cellar, style,
                                          doses, log2_doses));
        pair_near(&p, "best_score", t, least, best[t], 1e-3);
        pair_near(&p, "best_blend", t, score(blend[t], cellar, style, doses, log2_doses), best[t], 1e-3);
    }
    return pair_end(&p);
}
