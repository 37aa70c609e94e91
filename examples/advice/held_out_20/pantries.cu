// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Also: global-coalescing
// Change: the stocks of a household are kept in shared memory during the year and written once at the end.
// Why: every purchase reads and writes a stock in global memory, and the memory system is flooded with requests.
#include "../common.h"

enum { FOODS = 12, BLOCK = 128 };

// What households have in their pantries after many purchases, and what they had to throw away; one thread each.
__global__ void purchases(const unsigned char *foods, const unsigned short *grams, const float *keeps, float *stocks,
                          float *wasted, int n, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float waste = 0, eaten = 0.02f * keeps[i];
#ifdef AFTER
    __shared__ float stock[FOODS][BLOCK];
    for (int f = 0; f < FOODS; f++)
        stock[f][threadIdx.x] = 1.0f;
#else
    for (int f = 0; f < FOODS; f++)
        stocks[(size_t)f * n + i] = 1.0f;
#endif
    for (int k = 0; k < count; k++) {
        int food = foods[(size_t)k * n + i];
        float kilos = 0.001f * grams[(size_t)k * n + i];
#ifdef AFTER
        float have = stock[food][threadIdx.x];
#else
        float have = stocks[(size_t)food * n + i];
#endif
        have = have * (1.0f - eaten) + kilos;
        float spoilt = 0.1f * fmaxf(0.0f, have - 3.0f);
        have -= spoilt;
        waste += spoilt;
#ifdef AFTER
        stock[food][threadIdx.x] = have;
#else
        stocks[(size_t)food * n + i] = have;
#endif
    }
#ifdef AFTER
    for (int f = 0; f < FOODS; f++)
        stocks[(size_t)f * n + i] = stock[f][threadIdx.x];
#endif
    wasted[i] = waste;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pantries");
    int n = p.small ? 256 : 132 * 1024, count = p.small ? 24 : 128;
    std::vector<unsigned char> foods((size_t)n * count);
    lcg_fill(foods.data(), foods.size(), 1, FOODS);
    std::vector<unsigned short> grams((size_t)n * count);
    lcg_fill(grams.data(), grams.size(), 2, 1500);
    std::vector<float> keeps = random_floats(n, 1, 5, 3);
    unsigned char *d_foods = device_copy_of(foods.data(), foods.size());
    unsigned short *d_grams = device_copy_of(grams.data(), grams.size());
    float *d_keeps = device_copy_of(keeps.data(), n), *d_stocks = device_array<float>((size_t)n * FOODS),
          *d_wasted = device_array<float>(n);
    pair_time(&p, [&] {
        purchases<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_foods, d_grams, d_keeps, d_stocks, d_wasted, n, count);
    });
    std::vector<float> stocks = host_copy_of(d_stocks, (size_t)n * FOODS), wasted = host_copy_of(d_wasted, n);
    for (int i = 0; i < n; i += p.small ? 1 : 41) {
        double stock[FOODS], waste = 0, eaten = 0.02 * keeps[i];
        for (double &s : stock)
            s = 1;
        for (int k = 0; k < count; k++) {
            double &have = stock[foods[(size_t)k * n + i]];
            have = have * (1 - eaten) + 0.001 * grams[(size_t)k * n + i];
            double spoilt = 0.1 * std::max(0.0, have - 3);
            have -= spoilt;
            waste += spoilt;
        }
        for (int f = 0; f < FOODS; f++)
            pair_near(&p, "stock", (size_t)f * n + i, stock[f], stocks[(size_t)f * n + i], 1e-3);
        pair_near(&p, "wasted", i, waste, wasted[i], 1e-3);
    }
    return pair_end(&p);
}
