// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the host works out the rate of every card beforehand; a sale no longer goes by its customer and his tier.
// Why: each table on the way is a wait for an address that the last one gave, and a sector of 32 bytes for one number.
#include "../common.h"

enum { BLOCK = 256, TIERS = 6 };

struct Sale {
    unsigned card, cents;
};

// The points that each sale of a shop brings on its customer's card.
#ifdef AFTER
__global__ void points(const Sale *sales, const unsigned *rate_of_card, unsigned *result, int count) {
#else
__global__ void points(const Sale *sales, const unsigned *customer_of_card, const unsigned *tier_of_customer,
                       const unsigned *rate_of_tier, unsigned *result, int count) {
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        Sale sale = sales[i];
#ifdef AFTER
        unsigned rate = rate_of_card[sale.card];
#else
        unsigned rate = rate_of_tier[tier_of_customer[customer_of_card[sale.card]]];
#endif
        unsigned whole = sale.cents / 100 * rate;
        result[i] = sale.cents > 10000 ? whole + whole / 10 : whole;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "loyalty");
    int count = p.small ? 40000 : 12000000;
    unsigned cards = p.small ? 4000 : 5000000, customers = cards * 3 / 5, seed = 1;
    std::vector<Sale> sales(count);
    std::vector<unsigned> customer(cards), tier(customers), rate = {1, 2, 3, 5, 8, 12}, rate_of_card(cards);
    for (Sale &s : sales)
        s = {lcg_next(&seed, cards), 100 + lcg_next(&seed, 20000)};
    for (unsigned &t : tier)
        t = lcg_next(&seed, TIERS);
    for (unsigned c = 0; c < cards; c++) {
        customer[c] = lcg_next(&seed, customers);
        rate_of_card[c] = rate[tier[customer[c]]];
    }
    Sale *d_sales = device_copy_of(sales.data(), count);
    unsigned *d_result = device_array<unsigned>(count);
    int grid = std::min((count + BLOCK - 1) / BLOCK, 132 * 8);
#ifdef AFTER
    unsigned *d_rate = device_copy_of(rate_of_card.data(), cards);
    pair_time(&p, [&] { points<<<grid, BLOCK>>>(d_sales, d_rate, d_result, count); });
#else
    unsigned *d_customer = device_copy_of(customer.data(), cards), *d_tier = device_copy_of(tier.data(), customers),
             *d_rate = device_copy_of(rate.data(), TIERS);
    pair_time(&p, [&] { points<<<grid, BLOCK>>>(d_sales, d_customer, d_tier, d_rate, d_result, count); });
#endif
    std::vector<unsigned> result = host_copy_of(d_result, count);
    for (int i = 0; i < count; i += 11) {
        unsigned whole = sales[i].cents / 100 * rate_of_card[sales[i].card];
        pair_near(&p, "points", i, sales[i].cents > 10000 ? whole + whole / 10 : whole, result[i], 0);
    }
    return pair_end(&p);
}
