// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: what was sold is stored day by day, all items of a day together, instead of item by item.
// Why: the threads of a warp replay the same day of 32 items; with a year of an item in one piece, each of them reads
//      another line of memory, with the items of a day in one piece they all read the same 64 bytes.
#include "../common.h"

enum { BLOCK = 256, LEAD = 5 };

struct Policy {
    unsigned short reorder, fill_to;
};

struct Outcome {
    unsigned missed, held, orders;
};

__host__ __device__ static inline size_t slot(int item, int day, int items, int days) {
#ifdef AFTER
    return (size_t)day * items + item;
#else
    return (size_t)item * days + day;
#endif
}

// The shelf of one item; an order placed in the evening is there LEAD mornings later.
struct Shelf {
    int stock, coming, wait;

    __host__ __device__ void open(Policy rule) { stock = rule.fill_to, coming = 0, wait = 0; }

    __host__ __device__ void pass(int wanted, Policy rule, Outcome *out) {
        if (wait > 0 && --wait == 0)
            stock += coming;
        int given = wanted < stock ? wanted : stock;
        stock -= given;
        out->missed += wanted - given;
        out->held += stock;
        if (stock <= rule.reorder && wait == 0) {
            coming = rule.fill_to - stock;
            wait = LEAD;
            out->orders++;
        }
    }
};

// Replays the days for every item of the warehouse under its (s, S) policy.
__global__ void __launch_bounds__(BLOCK)
    replay(const unsigned short *sold, const Policy *policy, Outcome *outcome, int items, int days) {
    int item = blockIdx.x * BLOCK + threadIdx.x;
    if (item >= items)
        return;
    Policy rule = policy[item];
    Outcome out = {0, 0, 0};
    Shelf shelf;
    shelf.open(rule);
    for (int day = 0; day < days; day++)
        shelf.pass(sold[slot(item, day, items, days)], rule, &out);
    outcome[item] = out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "larders");
    int items = p.small ? 4000 : 132 * 2048 - 64, days = p.small ? 40 : 364;
    unsigned seed = 17;
    std::vector<Policy> policy(items);
    std::vector<unsigned short> sold((size_t)items * days);
    for (int i = 0; i < items; i++) {
        unsigned short reorder = 20 + lcg_next(&seed, 60);
        policy[i] = {reorder, (unsigned short)(reorder + 30 + lcg_next(&seed, 90))};
        unsigned usual = 4 + lcg_next(&seed, 24);
        for (int d = 0; d < days; d++)
            sold[slot(i, d, items, days)] = (unsigned short)(lcg_next(&seed, usual) + (d % 7 > 4 ? usual / 2 : 0));
    }
    unsigned short *d_sold = device_copy_of(sold.data(), sold.size());
    Policy *d_policy = device_copy_of(policy.data(), items);
    Outcome *d_outcome = device_array<Outcome>(items);
    int blocks = (items + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { replay<<<blocks, BLOCK>>>(d_sold, d_policy, d_outcome, items, days); });
    std::vector<Outcome> outcome = host_copy_of(d_outcome, items);
    for (int i = 0; i < items; i += p.small ? 1 : 7) {
        Outcome out = {0, 0, 0};
        Shelf shelf;
        shelf.open(policy[i]);
        for (int d = 0; d < days; d++)
            shelf.pass(sold[slot(i, d, items, days)], policy[i], &out);
        pair_near(&p, "missed", i, out.missed, outcome[i].missed, 0);
        pair_near(&p, "held", i, out.held, outcome[i].held, 0);
        pair_near(&p, "orders", i, out.orders, outcome[i].orders, 0);
    }
    return pair_end(&p);
}
