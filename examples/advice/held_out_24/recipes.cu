// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the price of an ingredient is looked up by the ingredient, in a table made when the offers were read in,
// no longer by the number of its cheapest offer, itself looked up by the ingredient.
// Why: two loads that depend on one another, each from anywhere in its table, become one.
#include "../common.h"

enum { BLOCK = 128, MOST = 12 };

// Costs of recipes, in thousandths of a cent, and of their dearest ingredient. Each recipe has its own number of
// ingredients; the k-th ingredients of all recipes stand together. One thread per recipe.
__global__ void __launch_bounds__(BLOCK)
    cost_recipes(const unsigned char *__restrict__ lines, const unsigned short *__restrict__ ingredient,
                 const unsigned short *__restrict__ grams, const int *__restrict__ cheapest_offer,
                 const int *__restrict__ offer_cents, const int *__restrict__ cents, int *__restrict__ cost,
                 int *__restrict__ dearest, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int count = lines[i], sum = 0, most = 0;
    for (int k = 0; k < count; k++) {
        size_t at = (size_t)k * n + i;
        int what = ingredient[at];
#ifdef AFTER
        int per_kilo = cents[what];
#else
        int per_kilo = offer_cents[cheapest_offer[what]];
#endif
        int amount = grams[at] * per_kilo;
        sum += amount;
        most = max(most, amount);
    }
    cost[i] = sum;
    dearest[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "recipes");
    int n = p.small ? 2500 : 132 * 8192;
    int ingredients = p.small ? 300 : 60000, offers = p.small ? 2000 : 800000;
    size_t count = (size_t)n * MOST;
    std::vector<unsigned char> lines(n);
    std::vector<unsigned short> ingredient(count), grams(count);
    lcg_fill(lines.data(), n, 1, MOST - 3);
    for (unsigned char &l : lines)
        l += 4;  // 4 to 12
    lcg_fill(ingredient.data(), count, 2, ingredients);
    lcg_fill(grams.data(), count, 3, 600);

    // The market: many offers, each for one ingredient; the first ones make sure that every ingredient has an offer.
    std::vector<int> offer_cents(offers), cheapest_offer(ingredients, -1), cents(ingredients);
    lcg_fill(offer_cents.data(), offers, 4, 4000);
    unsigned seed = 5;
    for (int o = 0; o < offers; o++) {
        int what = o < ingredients ? o : (int)lcg_next(&seed, ingredients);
        int &best = cheapest_offer[what];
        if (best < 0 || offer_cents[o] < offer_cents[best])
            best = o;
    }
    for (int k = 0; k < ingredients; k++)
        cents[k] = offer_cents[cheapest_offer[k]];

    unsigned char *d_lines = device_copy_of(lines.data(), n);
    unsigned short *d_ingredient = device_copy_of(ingredient.data(), count);
    unsigned short *d_grams = device_copy_of(grams.data(), count);
    int *d_cheapest = device_copy_of(cheapest_offer.data(), ingredients);
    int *d_offer_cents = device_copy_of(offer_cents.data(), offers);
    int *d_cents = device_copy_of(cents.data(), ingredients);
    int *d_cost = device_array<int>(n), *d_dearest = device_array<int>(n);
    pair_time(&p, [&] {
        cost_recipes<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_lines, d_ingredient, d_grams, d_cheapest, d_offer_cents,
                                                         d_cents, d_cost, d_dearest, n);
    });
    std::vector<int> cost = host_copy_of(d_cost, n), dearest = host_copy_of(d_dearest, n);
    for (int i = 0; i < n; i += p.small ? 1 : 7) {
        int sum = 0, most = 0;
        for (int k = 0; k < lines[i]; k++) {
            size_t at = (size_t)k * n + i;
            int amount = grams[at] * offer_cents[cheapest_offer[ingredient[at]]];
            sum += amount;
            most = std::max(most, amount);
        }
        pair_near(&p, "cost", i, sum, cost[i], 0);
        pair_near(&p, "dearest", i, most, dearest[i], 0);
    }
    return pair_end(&p);
}
