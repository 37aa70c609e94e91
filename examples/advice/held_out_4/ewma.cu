// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the prices are stored by days (day, share) instead of by shares (share, day).
// Why: neighbouring lanes read words that lie a whole series apart.
#include "../common.h"

enum { BLOCK = 128, DAYS = 256 };

// Exponentially weighted mean and variance of each share's price at its last day, and the deepest fall on the way.
__global__ void ewma(const float *prices, float *mean, float *variance, float *fall, float decay, int shares) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float m = 0, v = 0, high = 0, deepest = 0;
    for (int day = 0; day < DAYS; day++) {
#ifdef AFTER
        float price = prices[day * shares + i];
#else
        float price = prices[i * DAYS + day];
#endif
        float off = price - m;
        m += decay * off;
        v = (1 - decay) * (v + decay * off * off);
        high = fmaxf(high, price);
        deepest = fmaxf(deepest, high - price);
    }
    mean[i] = m;
    variance[i] = v;
    fall[i] = deepest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ewma");
    int shares = p.small ? 1 << 12 : 1 << 17;
    std::vector<float> prices = random_floats((size_t)shares * DAYS, 90, 110, 1), stored = prices;
#ifdef AFTER
    for (int i = 0; i < shares; i++)
        for (int day = 0; day < DAYS; day++)
            stored[(size_t)day * shares + i] = prices[(size_t)i * DAYS + day];
#endif
    float *d_prices = device_copy_of(stored.data(), stored.size()), *d_mean = device_array<float>(shares),
          *d_variance = device_array<float>(shares), *d_fall = device_array<float>(shares);
    pair_time(&p, [&] { ewma<<<shares / BLOCK, BLOCK>>>(d_prices, d_mean, d_variance, d_fall, 0.06f, shares); });
    std::vector<float> mean = host_copy_of(d_mean, shares), fall = host_copy_of(d_fall, shares);
    for (int i = 0; i < shares; i += 101) {
        double m = 0, high = 0, deepest = 0;
        for (int day = 0; day < DAYS; day++) {
            double price = prices[(size_t)i * DAYS + day];
            m += 0.06 * (price - m);
            high = std::max(high, price);
            deepest = std::max(deepest, high - price);
        }
        pair_near(&p, "mean", i, m, mean[i], 1e-4);
        pair_near(&p, "fall", i, deepest, fall[i], 1e-4);
    }
    return pair_end(&p);
}
