// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block adds up its sales in shared memory and adds only its totals to those in global memory.
// Why: all baskets of all stalls hold the same few kinds of goods, so that their atomics wait for each other in L2.
#include "../common.h"

constexpr int KINDS = 96;
constexpr int THREADS = 512;

struct Sale {
    unsigned char kind, pieces;
    unsigned short cents;
};

struct Totals {
    unsigned pieces[KINDS], cents[KINDS];
};

__device__ void book(Totals &totals, Sale sale) {
    atomicAdd(&totals.pieces[sale.kind], sale.pieces);
    atomicAdd(&totals.cents[sale.kind], sale.pieces * sale.cents);
}

// What was sold of each kind on the markets of a town; basket i holds the sales from start[i] to start[i + 1].
__global__ void close_the_day(const Sale *sales, const int *start, int baskets, Totals *totals) {
#ifdef AFTER
    __shared__ Totals sums;
    for (int k = threadIdx.x; k < KINDS; k += blockDim.x)
        sums.pieces[k] = sums.cents[k] = 0;
    __syncthreads();
#else
    Totals &sums = *totals;
#endif
    int basket = blockIdx.x * blockDim.x + threadIdx.x;
    if (basket < baskets) {
        int end = start[basket + 1];
        for (int k = start[basket]; k < end; k++)
            book(sums, sales[k]);
    }
#ifdef AFTER
    __syncthreads();
    for (int k = threadIdx.x; k < KINDS; k += blockDim.x) {
        atomicAdd(&totals->pieces[k], sums.pieces[k]);
        atomicAdd(&totals->cents[k], sums.cents[k]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "markets");
    int baskets = p.small ? 1500 : 132 * 1024;
    unsigned seed = 1;
    std::vector<int> start(1, 0);
    for (int i = 0; i < baskets; i++)
        start.push_back(start.back() + 1 + lcg_next(&seed, 11));
    std::vector<Sale> sales(start.back());
    for (Sale &sale : sales) {
        unsigned r = lcg_next(&seed, KINDS);  // squared: some kinds are sold much more often than others
        sale.kind = (unsigned char)(r * r / KINDS);
        sale.pieces = (unsigned char)(1 + lcg_next(&seed, 6));
        sale.cents = (unsigned short)(20 + lcg_next(&seed, 480));
    }
    Sale *d_sales = device_copy_of(sales.data(), sales.size());
    int *d_start = device_copy_of(start.data(), start.size());
    Totals *d_totals = device_array<Totals>(1);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_totals, 0, sizeof(Totals)));
        close_the_day<<<(baskets + THREADS - 1) / THREADS, THREADS>>>(d_sales, d_start, baskets, d_totals);
    });
    Totals got = host_copy_of(d_totals, 1)[0], expected = {};
    for (const Sale &sale : sales) {
        expected.pieces[sale.kind] += sale.pieces;
        expected.cents[sale.kind] += sale.pieces * sale.cents;
    }
    for (int k = 0; k < KINDS; k++) {
        pair_near(&p, "pieces", k, expected.pieces[k], got.pieces[k], 0);
        pair_near(&p, "cents", k, expected.cents[k], got.cents[k], 0);
    }
    return pair_end(&p);
}
