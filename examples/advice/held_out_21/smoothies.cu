// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread works on four smoothies instead of one.
// Why: what an ingredient contains is loaded for each smoothie again; held in a register, it serves four of them.
#include "../common.h"

enum { ACROSS = 32, DOWN = 8 };

#ifdef AFTER
enum { EACH = 4 };
#else
enum { EACH = 1 };
#endif

// Nutrients of smoothies: the sum over the ingredients, of which no single one counts for more than a limit, and the
// largest share. x: nutrients, y: smoothies.
__global__ void nutrients(const float *__restrict__ amounts, const float *__restrict__ contents,
                          const float *__restrict__ limits, float *totals, float *largest, int kinds, int ingredients) {
    int nutrient = blockIdx.x * ACROSS + threadIdx.x, first = (blockIdx.y * DOWN + threadIdx.y) * EACH;
    float limit = limits[nutrient], sum[EACH] = {0}, most[EACH] = {0};
    const float *own = amounts + (size_t)first * ingredients;
    for (int k = 0; k < ingredients; k++) {
        float content = contents[k * kinds + nutrient];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            float share = fminf(limit, own[e * ingredients + k] * content);
            sum[e] += share;
            most[e] = fmaxf(most[e], share);
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        totals[(size_t)(first + e) * kinds + nutrient] = sum[e];
        largest[(size_t)(first + e) * kinds + nutrient] = most[e];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "smoothies");
    int smoothies = p.small ? 64 : 132 * 128, kinds = p.small ? 32 : 96, ingredients = p.small ? 25 : 180;
    std::vector<float> amounts = random_floats((size_t)smoothies * ingredients, 0, 2, 1),
                       contents = random_floats((size_t)ingredients * kinds, 0, 5, 2),
                       limits = random_floats(kinds, 4, 9, 3);
    float *d_amounts = device_copy_of(amounts.data(), amounts.size()),
          *d_contents = device_copy_of(contents.data(), contents.size()),
          *d_limits = device_copy_of(limits.data(), kinds), *d_totals = device_array<float>((size_t)smoothies * kinds),
          *d_largest = device_array<float>((size_t)smoothies * kinds);
    pair_time(&p, [&] {
        nutrients<<<dim3(kinds / ACROSS, smoothies / (DOWN * EACH)), dim3(ACROSS, DOWN)>>>(
            d_amounts, d_contents, d_limits, d_totals, d_largest, kinds, ingredients);
    });
    std::vector<float> totals = host_copy_of(d_totals, (size_t)smoothies * kinds),
                       largest = host_copy_of(d_largest, (size_t)smoothies * kinds);
    for (int s = 0; s < smoothies; s += p.small ? 1 : 67)
        for (int m = 0; m < kinds; m++) {
            double sum = 0, most = 0;
            for (int k = 0; k < ingredients; k++) {
                double share = std::min((double)limits[m],
                                        (double)amounts[(size_t)s * ingredients + k] * contents[(size_t)k * kinds + m]);
                sum += share;
                most = std::max(most, share);
            }
            pair_near(&p, "total", (size_t)s * kinds + m, sum, totals[(size_t)s * kinds + m], 1e-4);
            pair_near(&p, "largest", (size_t)s * kinds + m, most, largest[(size_t)s * kinds + m], 1e-4);
        }
    return pair_end(&p);
}
