// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: powf with the exponents 3/4, 2/3 and 2 become square roots, a cube root's square and a product.
// Why: a general power is a logarithm and an exponential with much care; the exponents here are fixed simple ones.
#include "../common.h"

struct Stock {
    float weight, appetite, upkeep;
};

static __device__ __forceinline__ float three_quarters(float x) {
#ifdef AFTER
    float root = sqrtf(x);
    return root * sqrtf(root);
#else
    return powf(x, 0.75f);
#endif
}

static __device__ __forceinline__ float two_thirds(float x) {
#ifdef AFTER
    float root = cbrtf(x);
    return root * root;
#else
    return powf(x, 2.0f / 3.0f);
#endif
}

static __device__ __forceinline__ float squared(float x) {
#ifdef AFTER
    return x * x;
#else
    return powf(x, 2.0f);
#endif
}

// The weights of the fish of many pens after a season: what is eaten grows with the surface, upkeep with weight^3/4.
__global__ void season(const Stock *stocks, const float *warmth, float *weights, float *feed, int count, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Stock fish = stocks[i];
    float weight = fish.weight, eaten = 0;
    for (int day = 0; day < days; day++) {
        float off = (warmth[day] - 13.0f) * 0.125f;
        float hunger = fmaxf(1.0f - squared(fabsf(off)), 0.05f);
        float meal = fish.appetite * hunger * two_thirds(weight);
        weight += 0.8f * meal - fish.upkeep * three_quarters(weight);
        eaten += meal;
    }
    weights[i] = weight;
    feed[i] = eaten;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "salmon_farm");
    int n = p.small ? 1000 : 1 << 20, days = p.small ? 10 : 90;
    std::vector<float> weight = random_floats(n, 0.1f, 2, 1), appetite = random_floats(n, 0.01f, 0.03f, 2),
                       upkeep = random_floats(n, 0.002f, 0.006f, 3), warmth = random_floats(days, 6, 17, 4);
    std::vector<Stock> stocks(n);
    for (int i = 0; i < n; i++)
        stocks[i] = {weight[i], appetite[i], upkeep[i]};
    Stock *d_stocks = device_copy_of(stocks.data(), n);
    float *d_warmth = device_copy_of(warmth.data(), days), *d_weights = device_array<float>(n),
          *d_feed = device_array<float>(n);
    pair_time(&p, [&] { season<<<(n + 255) / 256, 256>>>(d_stocks, d_warmth, d_weights, d_feed, n, days); });
    std::vector<float> weights = host_copy_of(d_weights, n), feed = host_copy_of(d_feed, n);
    for (int i = 0; i < n; i += p.small ? 7 : 211) {
        double w = weight[i], eaten = 0;
        for (int day = 0; day < days; day++) {
            double off = fabs((warmth[day] - 13.0) * 0.125);
            double meal = appetite[i] * std::max(1 - off * off, 0.05) * pow(w, 2.0 / 3.0);
            w += 0.8 * meal - upkeep[i] * pow(w, 0.75);
            eaten += meal;
        }
        pair_near(&p, "weight", i, w, weights[i], 1e-4);
        pair_near(&p, "feed", i, eaten, feed[i], 1e-4);
    }
    return pair_end(&p);
}
