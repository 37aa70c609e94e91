// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the sales are stored day by day, no longer article by article.
// Why: a thread follows one article through the days, so that the threads of a warp read far apart from one another
// on every day; stored by day, what they read is a run of neighbours.
#include "../common.h"

struct Policy {
    int full, reorder_at, order_size, lead_days, patience;
};

struct Outcome {
    int lost, orders, last_day;
};

enum { BLOCK = 128 };

#ifdef AFTER
#define SALES_AT(article, day) ((size_t)(day) * articles + (article))
#else
#define SALES_AT(article, day) ((size_t)(article) * days + (day))
#endif

// One day of one article: what has arrived is put on the shelf, what is asked for is sold, and more is ordered.
struct Shelf {
    int stock, arrives;
    Outcome outcome;

    __host__ __device__ void begin(const Policy &p) {
        stock = p.full;
        arrives = -1;
        outcome.lost = outcome.orders = outcome.last_day = 0;
    }
    __host__ __device__ bool live_through(const Policy &p, int day, int wanted) {
        if (arrives == day) {
            stock += p.order_size;
            arrives = -1;
        }
        int sold = wanted < stock ? wanted : stock;
        stock -= sold;
        outcome.lost += wanted - sold;
        outcome.last_day = day;
        if (stock <= p.reorder_at && arrives < 0) {
            arrives = day + p.lead_days;
            outcome.orders++;
        }
        return outcome.lost <= p.patience;
    }
};

// How a way of ordering would have done with the sales of the past; an article is given up when too much was lost.
__global__ void __launch_bounds__(BLOCK) replay(const unsigned short *sales, const Policy *policies, Outcome *outcomes,
                                                int articles, int days) {
    int article = blockIdx.x * BLOCK + threadIdx.x;
    if (article >= articles)
        return;
    Policy policy = policies[article];
    Shelf shelf;
    shelf.begin(policy);
    for (int day = 0; day < days; day++)
        if (!shelf.live_through(policy, day, sales[SALES_AT(article, day)]))
            break;
    outcomes[article] = shelf.outcome;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "drugstores");
    int articles = p.small ? 1000 : 262144, days = p.small ? 40 : 128;
    std::vector<unsigned short> sales((size_t)articles * days);
    std::vector<Policy> policies(articles);
    unsigned seed = 5;
    for (Policy &policy : policies) {
        policy.full = 60 + lcg_next(&seed, 100);
        policy.reorder_at = 20 + lcg_next(&seed, 40);
        policy.order_size = 50 + lcg_next(&seed, 90);
        policy.lead_days = 1 + lcg_next(&seed, 7);
        policy.patience = 150 + lcg_next(&seed, 2000);
    }
#ifdef AFTER
    for (int day = 0; day < days; day++)
        for (int article = 0; article < articles; article++)
#else
    for (int article = 0; article < articles; article++)
        for (int day = 0; day < days; day++)
#endif
            sales[SALES_AT(article, day)] = (article * 2654435761u + day * 2246822519u) * 3266489917u >> 16 & 15;
    unsigned short *d_sales = device_copy_of(sales.data(), sales.size());
    Policy *d_policies = device_copy_of(policies.data(), articles);
    Outcome *d_outcomes = device_array<Outcome>(articles);
    pair_time(&p, [&] {
        replay<<<(articles + BLOCK - 1) / BLOCK, BLOCK>>>(d_sales, d_policies, d_outcomes, articles, days);
    });
    std::vector<Outcome> outcomes = host_copy_of(d_outcomes, articles);
    for (int article = 0; article < articles; article += p.small ? 1 : 37) {
        Shelf shelf;
        shelf.begin(policies[article]);
        for (int day = 0; day < days; day++)
            if (!shelf.live_through(policies[article], day, sales[SALES_AT(article, day)]))
                break;
        pair_near(&p, "lost", article, shelf.outcome.lost, outcomes[article].lost, 1e-9);
        pair_near(&p, "orders", article, shelf.outcome.orders, outcomes[article].orders, 1e-9);
        pair_near(&p, "last_day", article, shelf.outcome.last_day, outcomes[article].last_day, 1e-9);
    }
    return pair_end(&p);
}
