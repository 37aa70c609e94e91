// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the launch asks for as much shared memory as the largest price list at hand needs, not the largest allowed.
// Why: with 32 KB for each block of 64 threads only a few blocks fit on a multiprocessor, too few to hide the latency.
#include "../common.h"

struct Article {
    int cents, tax;  // tax in thousandths
};

struct Shop {
    int first_article, articles, first_sale, sales;
};

struct Takings {
    long long cents, tax;
};

enum { BLOCK = 64, MOST_ARTICLES = 4096 };

__host__ __device__ inline void ring_up(const Article &article, int pieces, int rebate, long long *cents,
                                        long long *tax) {
    int paid = article.cents * pieces * (100 - rebate) / 100;
    *cents += paid;
    *tax += paid * article.tax / 1000;
}

__device__ inline long long warp_sum(long long value) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// What each shop took in, and the tax in it. One block per shop: it puts the shop's price list in shared memory, then
// goes through the sales; each customer has a rebate of their own.
__global__ void close_tills(const Shop *shops, const Article *lists, const unsigned short *sold,
                            const unsigned char *pieces, const int *customer, const unsigned char *rebates,
                            Takings *takings) {
    extern __shared__ Article list[];
    __shared__ long long parts[2][BLOCK / 32];
    Shop shop = shops[blockIdx.x];
    for (int a = threadIdx.x; a < shop.articles; a += BLOCK)
        list[a] = lists[shop.first_article + a];
    __syncthreads();
    long long cents = 0, tax = 0;
    for (int s = threadIdx.x; s < shop.sales; s += BLOCK) {
        int at = shop.first_sale + s;
        ring_up(list[sold[at]], pieces[at], rebates[customer[at]], &cents, &tax);
    }
    cents = warp_sum(cents);
    tax = warp_sum(tax);
    if (threadIdx.x % 32 == 0) {
        parts[0][threadIdx.x / 32] = cents;
        parts[1][threadIdx.x / 32] = tax;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        takings[blockIdx.x] = {parts[0][0] + parts[0][1], parts[1][0] + parts[1][1]};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "shops");
    int n = p.small ? 24 : 132 * 64, customers = p.small ? 1000 : 20000000, scale = p.small ? 1 : 8;
    unsigned seed = 9;
    std::vector<Shop> shops(n);
    int articles = 0, sales = 0, longest = 0;
    for (Shop &shop : shops) {
        shop = {articles, (int)(20 + lcg_next(&seed, 40)) * scale, sales, (int)(70 + lcg_next(&seed, 80)) * scale};
        articles += shop.articles;
        sales += shop.sales;
        longest = std::max(longest, shop.articles);
    }
    std::vector<Article> lists(articles);
    for (Article &article : lists)
        article = {(int)(50 + lcg_next(&seed, 5000)), lcg_next(&seed, 3) ? 190 : 70};
    std::vector<unsigned short> sold(sales);
    std::vector<unsigned char> pieces(sales), rebates(customers);
    std::vector<int> customer(sales);
    for (const Shop &shop : shops)
        for (int s = 0; s < shop.sales; s++)
            sold[shop.first_sale + s] = lcg_next(&seed, shop.articles);
    lcg_fill(pieces.data(), sales, 2, 9);
    lcg_fill(customer.data(), sales, 3, std::min(customers, 1 << 24));
    lcg_fill(rebates.data(), customers, 4, 30);
    Shop *d_shops = device_copy_of(shops.data(), n);
    Article *d_lists = device_copy_of(lists.data(), articles);
    unsigned short *d_sold = device_copy_of(sold.data(), sales);
    unsigned char *d_pieces = device_copy_of(pieces.data(), sales);
    unsigned char *d_rebates = device_copy_of(rebates.data(), customers);
    int *d_customer = device_copy_of(customer.data(), sales);
    Takings *d_takings = device_array<Takings>(n);
#ifdef AFTER
    size_t shared = longest * sizeof(Article);
#else
    size_t shared = MOST_ARTICLES * sizeof(Article);
#endif
    if (longest > MOST_ARTICLES)
        fail_now("price list: expected at most %d articles, got %d", (int)MOST_ARTICLES, longest);
    pair_time(&p, [&] {
        close_tills<<<n, BLOCK, shared>>>(d_shops, d_lists, d_sold, d_pieces, d_customer, d_rebates, d_takings);
    });
    std::vector<Takings> takings = host_copy_of(d_takings, n);
    for (int i = 0; i < n; i += p.small ? 1 : 7) {
        long long cents = 0, tax = 0;
        for (int at = shops[i].first_sale; at < shops[i].first_sale + shops[i].sales; at++)
            ring_up(lists[shops[i].first_article + sold[at]], pieces[at], rebates[customer[at]], &cents, &tax);
        pair_near(&p, "cents", i, (double)cents, (double)takings[i].cents, 0);
        pair_near(&p, "tax", i, (double)tax, (double)takings[i].tax, 0);
    }
    return pair_end(&p);
}
