// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: events and results, each used once, are loaded and stored with the streaming hint.
// Why: they push the table, which is used again, out of the L2.
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
#define LOAD(p) __ldcs(p)
#define STORE(p, v) __stcs(p, v)
#else
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#endif

// Each event with the price that is known of its article.
__global__ void event_join(const int *article, const float *amount, const float *prices, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    STORE(&out[i], LOAD(&amount[i]) * prices[LOAD(&article[i])]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "event_join");
    int n = p.small ? 1 << 15 : 1 << 24, articles = p.small ? 1 << 12 : 9 << 20;
    std::vector<float> amount = random_floats(n, 0, 10, 1), prices = random_floats(articles, 1, 99, 2);
    std::vector<int> article(n);
    unsigned seed = 3;
    for (int &a : article)
        a = (int)(((unsigned)lcg_next(&seed, 1 << 16) << 16 | (unsigned)lcg_next(&seed, 1 << 16)) % articles);
    int *d_article = device_copy_of(article.data(), n);
    float *d_amount = device_copy_of(amount.data(), n), *d_prices = device_copy_of(prices.data(), articles), *d_out = device_array<float>(n);
    pair_time(&p, [&] { event_join<<<n / BLOCK, BLOCK>>>(d_article, d_amount, d_prices, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "price", i, amount[i] * prices[article[i]], out[i], 1e-5);
    return pair_end(&p);
}
