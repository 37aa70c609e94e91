// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: cost, price and receipt are computed by one kernel instead of three.
// Why: costs and prices are written to memory by one kernel only to be read again by the next.
#include "../common.h"

enum { BLOCK = 256, BREADS = 8, FILLINGS = 32 };

struct Order {
    unsigned char bread, filling, extra, count;
};

__constant__ float bread_cost[BREADS];

static __device__ float cost_of(Order o, const float *fillings) {
    float filling = fillings[o.filling], extra = o.extra < FILLINGS ? 0.5f * fillings[o.extra] : 0.0f;
    return o.count * (bread_cost[o.bread] + filling + extra);
}

static __device__ float price_of(float cost, float loyalty) {
    float price = cost * 2.2f + 0.3f;
    return price > 12.0f ? price - loyalty * (price - 12.0f) : price;
}

static __device__ int pence_of(float price, int takeaway) {
    return __float2int_rd(price * (takeaway ? 100.0f : 120.0f) + 0.5f);
}

#ifdef AFTER
// Orders of a chain of sandwich bars: from the costs to the receipts in pence.
__global__ void receipts(const Order *orders, const float *fillings, const float *loyalties,
                         const unsigned char *takeaway, int *pence, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float cost = cost_of(orders[i], fillings);
    float price = price_of(cost, loyalties[i]);
    pence[i] = pence_of(price, takeaway[i]);
}
#else
// Orders of a chain of sandwich bars: what they cost, ...
__global__ void costs(const Order *orders, const float *fillings, float *cost, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        cost[i] = cost_of(orders[i], fillings);
}

// ... at what price they are sold to regular customers, ...
__global__ void prices(const float *cost, const float *loyalties, float *price, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        price[i] = price_of(cost[i], loyalties[i]);
}

// ... and the receipts in pence.
__global__ void receipts(const float *price, const unsigned char *takeaway, int *pence, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        pence[i] = pence_of(price[i], takeaway[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sandwiches");
    int n = p.small ? 3000 : 12000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> breads = random_floats(BREADS, 0.2f, 0.9f, 1), fillings = random_floats(FILLINGS, 0.3f, 2, 2),
                       loyalties = random_floats(n, 0, 0.4f, 3);
    std::vector<Order> orders(n);
    std::vector<unsigned char> takeaway(n);
    unsigned seed = 4;
    for (int i = 0; i < n; i++) {
        unsigned r = lcg_next(&seed, 1 << 24);
        orders[i] = {(unsigned char)(r % BREADS), (unsigned char)(r / 8 % FILLINGS), (unsigned char)(r / 256 % 64),
                     (unsigned char)(1 + r / 16384 % 4)};
        takeaway[i] = r >> 20 & 1;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(bread_cost, breads.data(), BREADS * sizeof(float)));
    Order *d_orders = device_copy_of(orders.data(), n);
    float *d_fillings = device_copy_of(fillings.data(), FILLINGS), *d_loyalties = device_copy_of(loyalties.data(), n);
    unsigned char *d_takeaway = device_copy_of(takeaway.data(), n);
    int *d_pence = device_array<int>(n);
#ifdef AFTER
    pair_time(&p, [&] { receipts<<<blocks, BLOCK>>>(d_orders, d_fillings, d_loyalties, d_takeaway, d_pence, n); });
#else
    float *d_cost = device_array<float>(n), *d_price = device_array<float>(n);
    pair_time(&p, [&] {
        costs<<<blocks, BLOCK>>>(d_orders, d_fillings, d_cost, n);
        prices<<<blocks, BLOCK>>>(d_cost, d_loyalties, d_price, n);
        receipts<<<blocks, BLOCK>>>(d_price, d_takeaway, d_pence, n);
    });
#endif
    std::vector<int> pence = host_copy_of(d_pence, n);
    for (int i = 0; i < n; i += p.small ? 1 : 13) {
        Order o = orders[i];
        double extra = o.extra < FILLINGS ? 0.5 * fillings[o.extra] : 0;
        double price = 2.2 * o.count * (breads[o.bread] + fillings[o.filling] + extra) + 0.3;
        if (price > 12)
            price -= loyalties[i] * (price - 12);
        // Rounding may differ by a penny.
        pair_near(&p, "pence difference", i, 0, fabs(price * (takeaway[i] ? 100 : 120) - pence[i]), 0.6);
    }
    return pair_end(&p);
}
