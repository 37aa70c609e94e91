// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the table of a thread lies across shared memory (one row a load, one column a thread), not in one piece.
// Why: pieces of 52 words begin in only eight of the 32 banks, so that the lanes of a warp, all at about the same load,
// wait for each other four at a time; in a column of its own every lane has a bank of its own.
#include "../common.h"

// Fills lorries at a freight exchange: each lorry has its own list of offers (weight, pay, deadline) and takes the
// subset that pays best within its capacity, by dynamic programming over the load. One thread plans one lorry.
constexpr int THREADS = 128;
constexpr int LARGEST = 51;  // capacity of the largest lorry, in half tonnes
constexpr int LOADS = LARGEST + 1;
constexpr int NEVER = 1 << 20;

struct Offer {
    unsigned char weight;    // half tonnes
    unsigned char deadline;  // hours from now
    unsigned short pay;
};

struct Lorry {
    unsigned char capacity;
    unsigned char hours;  // until it can deliver
    unsigned short fuel;  // cost of a half tonne carried
};

struct Plan {
    int profit;
    int load;
};

__device__ inline int &best_pay(int *tables, int load) {
#ifdef AFTER
    return tables[load * THREADS + threadIdx.x];
#else
    return tables[threadIdx.x * LOADS + load];
#endif
}

__host__ __device__ inline int worth(Offer offer, Lorry lorry) {
    int profit = offer.pay - lorry.fuel * offer.weight;
    return offer.deadline < lorry.hours || offer.weight > lorry.capacity ? -1 : profit;
}

// offers: [offer][lorry]
__global__ void __launch_bounds__(THREADS)
    fill_lorries(Plan *__restrict__ plans, const Offer *__restrict__ offers, const Lorry *__restrict__ lorries,
                 int lorry_count, int offer_count) {
    __shared__ int tables[LOADS * THREADS];
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= lorry_count)
        return;
    Lorry lorry = lorries[at];
    best_pay(tables, 0) = 0;
    for (int load = 1; load <= lorry.capacity; load++)
        best_pay(tables, load) = -NEVER;

    int heaviest = 0;  // load that the offers until now can reach
    for (int o = 0; o < offer_count; o++) {
        Offer offer = offers[(size_t)o * lorry_count + at];
        int profit = worth(offer, lorry), weight = offer.weight;
        if (profit <= 0)
            continue;
        heaviest = min(heaviest + weight, (int)lorry.capacity);
        for (int load = heaviest; load >= weight; load--) {
            int with = best_pay(tables, load - weight) + profit;
            if (with > best_pay(tables, load))
                best_pay(tables, load) = with;
        }
    }

    Plan plan = {0, 0};
    for (int load = 1; load <= heaviest; load++) {
        int profit = best_pay(tables, load);
        if (profit > plan.profit)
            plan = {profit, load};
    }
    plans[at] = plan;
}

static Plan fill_on_cpu(const std::vector<Offer> &offers, Lorry lorry, int at, int lorry_count, int offer_count) {
    std::vector<int> best(LOADS, -NEVER);
    best[0] = 0;
    for (int o = 0; o < offer_count; o++) {
        Offer offer = offers[(size_t)o * lorry_count + at];
        int profit = worth(offer, lorry);
        if (profit > 0)
            for (int load = lorry.capacity; load >= offer.weight; load--)
                best[load] = std::max(best[load], best[load - offer.weight] + profit);
    }
    Plan plan = {0, 0};
    for (int load = 1; load <= lorry.capacity; load++)
        if (best[load] > plan.profit)
            plan = {best[load], load};
    return plan;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lorries");
    const int lorry_count = p.small ? 300 : 200000, offer_count = p.small ? 10 : 32;

    unsigned seed = 381;
    std::vector<Lorry> lorries(lorry_count);
    for (Lorry &lorry : lorries) {
        lorry.capacity = (unsigned char)(LARGEST - lcg_next(&seed, 4));
        lorry.hours = (unsigned char)lcg_next(&seed, 8);
        lorry.fuel = (unsigned short)(2 + lcg_next(&seed, 3));
    }
    std::vector<Offer> offers((size_t)offer_count * lorry_count);
    for (Offer &offer : offers) {
        unsigned r = lcg_next(&seed, 1 << 24);
        offer.weight = (unsigned char)(1 + r % 12);
        offer.deadline = (unsigned char)(4 + (r >> 8) % 32);
        offer.pay = (unsigned short)(offer.weight * 9 + (r >> 13) % 100);
    }

    Lorry *d_lorries = device_copy_of(lorries.data(), lorries.size());
    Offer *d_offers = device_copy_of(offers.data(), offers.size());
    Plan *d_plans = device_array<Plan>(lorry_count);
    int blocks = (lorry_count + THREADS - 1) / THREADS;
    pair_time(&p, [&] { fill_lorries<<<blocks, THREADS>>>(d_plans, d_offers, d_lorries, lorry_count, offer_count); });

    std::vector<Plan> plans = host_copy_of(d_plans, lorry_count);
    for (int i = 0; i < lorry_count; i += p.small ? 1 : 23) {
        Plan expected = fill_on_cpu(offers, lorries[i], i, lorry_count, offer_count);
        pair_near(&p, "profit", i, expected.profit, plans[i].profit, 0);
        pair_near(&p, "load", i, expected.load, plans[i].load, 0);
    }
    CUDA_CHECK(cudaFree(d_lorries));
    CUDA_CHECK(cudaFree(d_offers));
    CUDA_CHECK(cudaFree(d_plans));
    return pair_end(&p);
}
