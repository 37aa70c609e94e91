// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the instruments are sorted by their kind.
// Why: a warp has all four kinds among its lanes, and goes through the four formulas one after the other.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4, COUPONS = 24, STEPS = 24 };

struct Instrument {
    int kind;
    float price, strike, years;
};

__host__ __device__ static float normal(float x) { return 0.5f * erfcf(-0.70710678f * x); }

// What an instrument is worth: a bond, a European call, an American put by a binomial walk, or an annuity that grows.
__host__ __device__ static float worth(Instrument a, float rate, float sigma) {
    float value = 0;
    switch (a.kind) {
    case 0:
        for (int k = 1; k <= COUPONS; k++)
            value += 0.05f * a.price * expf(-rate * a.years * k / COUPONS);
        return value + a.price * expf(-rate * a.years);
    case 1: {
        float spread = sigma * sqrtf(a.years);
        float d = (logf(a.price / a.strike) + (rate + 0.5f * sigma * sigma) * a.years) / spread;
        return a.price * normal(d) - a.strike * expf(-rate * a.years) * normal(d - spread);
    }
    case 2: {
        float dt = a.years / STEPS, up = expf(sigma * sqrtf(dt)), shrink = expf(-rate * dt), price = a.price;
        for (int k = 0; k < STEPS; k++) {
            value = fmaxf(a.strike - price, shrink * (0.5f * value + 0.5f * fmaxf(a.strike - price * up, 0)));
            price *= k % 2 ? up : 1 / up;
        }
        return value;
    }
    default:
        for (int k = 1; k <= COUPONS; k++)
            value += a.price * powf(1.02f, (float)k) / powf(1 + rate, (float)k);
        return value;
    }
}

__global__ void revalue(const Instrument *book, float *value, float rate, float sigma) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    value[i] = worth(book[i], rate, sigma);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "instruments");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> price = random_floats(n, 50, 150, 1), strike = random_floats(n, 80, 120, 2),
                       years = random_floats(n, 0.5f, 5, 3);
    std::vector<Instrument> book(n);
    unsigned seed = 4;
    for (int i = 0; i < n; i++)
        book[i] = {(int)lcg_next(&seed, KINDS), price[i], strike[i], years[i]};
#ifdef AFTER
    std::stable_sort(book.begin(), book.end(),
                     [](const Instrument &a, const Instrument &b) { return a.kind < b.kind; });
#endif
    Instrument *d_book = device_copy_of(book.data(), n);
    float *d_value = device_array<float>(n);
    pair_time(&p, [&] { revalue<<<n / BLOCK, BLOCK>>>(d_book, d_value, 0.03f, 0.25f); });
    std::vector<float> value = host_copy_of(d_value, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "value", i, worth(book[i], 0.03f, 0.25f), value[i], 2e-3);
    return pair_end(&p);
}
