// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block keeps four copies of its totals, and neighbouring lanes add to different copies.
// Why: a few kinds of goods make most of the sales, so many lanes of a warp add to the same total at the same time and
//      wait for each other.
#include "../common.h"

enum { BLOCK = 256, KINDS = 12 };
#ifdef AFTER
enum { COPIES = 4 };
#else
enum { COPIES = 1 };
#endif

// A table of sales, column by column.
struct Sales {
    const unsigned short *price;  // of one piece, in pence
    const unsigned char *pieces, *kind;
    const unsigned short *day;
    int rows;
};

// A row of the answer, in pence and pieces. A block's share of the sales comes to less than 2^32 pence.
template <typename Number> struct Total { Number money, pieces; };

typedef Total<unsigned> BlockTotal;
typedef Total<unsigned long long> YearTotal;

// A tenth off from ten pieces on.
__host__ __device__ static inline unsigned amount(unsigned price, unsigned pieces) {
    unsigned full = price * pieces;
    return pieces >= 10 ? full - full / 10 : full;
}

// SELECT kind, SUM(amount), SUM(pieces) FROM sales WHERE day BETWEEN first AND last GROUP BY kind
__global__ void __launch_bounds__(BLOCK) sum_by_kind(Sales sales, int first, int last, YearTotal *total) {
    __shared__ BlockTotal sums[COPIES][KINDS];
    for (int s = threadIdx.x; s < COPIES * KINDS; s += BLOCK)
        sums[s / KINDS][s % KINDS] = {0, 0};
    __syncthreads();
    BlockTotal *mine = sums[threadIdx.x % COPIES];
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < sales.rows; i += gridDim.x * BLOCK) {
        int day = sales.day[i];
        if (day < first || day > last)
            continue;
        BlockTotal *kind = &mine[sales.kind[i]];
        unsigned pieces = sales.pieces[i];
        atomicAdd(&kind->money, amount(sales.price[i], pieces));
        atomicAdd(&kind->pieces, pieces);
    }
    __syncthreads();
    if (threadIdx.x < KINDS) {
        YearTotal sum = {0, 0};
        for (int c = 0; c < COPIES; c++) {
            sum.money += sums[c][threadIdx.x].money;
            sum.pieces += sums[c][threadIdx.x].pieces;
        }
        atomicAdd(&total[threadIdx.x].money, sum.money);
        atomicAdd(&total[threadIdx.x].pieces, sum.pieces);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "merchants");
    int rows = p.small ? 20000 : 32 << 20, blocks = p.small ? 8 : 132 * 8, first = 20, last = 340;
    std::vector<unsigned char> popular;  // kind k is in it about 1 / (k + 1) as often as kind 0
    for (int k = 0; k < KINDS; k++)
        popular.insert(popular.end(), 240 / (k + 1), (unsigned char)k);
    std::vector<unsigned short> price(rows), day(rows);
    std::vector<unsigned char> pieces(rows), kind(rows);
    unsigned seed = 4;
    for (int i = 0; i < rows; i++) {
        kind[i] = popular[lcg_next(&seed, (unsigned)popular.size())];
        price[i] = (unsigned short)(50 + kind[i] * 30 + lcg_next(&seed, 4000));
        pieces[i] = (unsigned char)(1 + lcg_next(&seed, 12));
        day[i] = (unsigned short)lcg_next(&seed, 365);
    }
    Sales sales = {device_copy_of(price.data(), rows), device_copy_of(pieces.data(), rows),
                   device_copy_of(kind.data(), rows), device_copy_of(day.data(), rows), rows};
    YearTotal *d_total = device_array<YearTotal>(KINDS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_total, 0, KINDS * sizeof(YearTotal)));
        sum_by_kind<<<blocks, BLOCK>>>(sales, first, last, d_total);
    });
    std::vector<YearTotal> total = host_copy_of(d_total, KINDS), expected(KINDS);
    for (int i = 0; i < rows; i++)
        if (day[i] >= first && day[i] <= last) {
            expected[kind[i]].money += amount(price[i], pieces[i]);
            expected[kind[i]].pieces += pieces[i];
        }
    for (int k = 0; k < KINDS; k++) {
        pair_near(&p, "money", k, (double)expected[k].money, (double)total[k].money, 0);
        pair_near(&p, "pieces", k, (double)expected[k].pieces, (double)total[k].pieces, 0);
    }
    return pair_end(&p);
}
