// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the scenarios of a bond are shared out among five CTAs, not left to one.
// Why: a book of 96 bonds is 96 CTAs, which leaves SMs without work and the others with eight warps that mostly wait
// for the next month's rate.
#include "../common.h"

#ifdef AFTER
constexpr int CTAS_PER_BOND = 5;
#else
constexpr int CTAS_PER_BOND = 1;
#endif
constexpr int THREADS = 256;

// A callable bond of face value 100: the issuer may pay it back early, which he does when rates are low.
struct Bond {
    float coupon;       // paid at each coupon date
    float call_price;   // what the holder gets if it is called
    float call_level;   // called at a coupon date if the month's discount factor is above this
    int months;         // to maturity
    int protected_for;  // months in which it may not be called
    int every;          // months between coupons
};

__device__ float block_sum(float value) {
    __shared__ float part[THREADS / 32];
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < THREADS / 32; w++)
            value += part[w];
    return value;
}

// discount[month * scenarios + s]: of one month, in scenario s of the short rate. present[y * bonds + b]: the sum of
// the present values of bond b over those scenarios that CTA (b, y) has seen.
__global__ void present_values(const Bond *__restrict__ bonds, const float *__restrict__ discount, int scenarios,
                               float *__restrict__ present) {
    const Bond bond = bonds[blockIdx.x];
    float sum = 0;
    for (int s = blockIdx.y * THREADS + threadIdx.x; s < scenarios; s += gridDim.y * THREADS) {
        float factor = 1, value = 0;
        float redemption = 100;
        int to_coupon = bond.every;
        for (int month = 0; month < bond.months; month++) {
            const float now = discount[(size_t)month * scenarios + s];
            factor *= now;
            if (--to_coupon > 0)
                continue;
            to_coupon = bond.every;
            value += factor * bond.coupon;
            if (month >= bond.protected_for && now > bond.call_level) {
                redemption = bond.call_price;
                break;
            }
        }
        sum += value + factor * redemption;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        present[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

static double host_value(const Bond &bond, const std::vector<float> &discount, int scenarios) {
    double sum = 0;
    for (int s = 0; s < scenarios; s++) {
        double factor = 1, redemption = 100;
        for (int month = 0; month < bond.months; month++) {
            float now = discount[(size_t)month * scenarios + s];
            factor *= now;
            if ((month + 1) % bond.every)
                continue;
            sum += factor * bond.coupon;
            if (month >= bond.protected_for && now > bond.call_level) {
                redemption = bond.call_price;
                break;
            }
        }
        sum += factor * redemption;
    }
    return sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bonds");
    const int count = p.small ? 10 : 96, scenarios = p.small ? 1280 : 20480, longest = p.small ? 30 : 120;

    // The short rate goes back to its mean (Vasicek), month by month.
    std::vector<float> discount((size_t)longest * scenarios);
    unsigned seed = 1977;
    for (int s = 0; s < scenarios; s++) {
        float rate = 0.035f;
        for (int month = 0; month < longest; month++) {
            float shock = -2;
            for (int i = 0; i < 4; i++)
                shock += lcg_next(&seed, 65536) / 65536.0f;
            rate += 0.02f * (0.035f - rate) + 0.006f * shock;
            discount[(size_t)month * scenarios + s] = 1 / (1 + rate / 12);
        }
    }
    std::vector<Bond> bonds(count);
    for (Bond &b : bonds) {
        b.every = lcg_next(&seed, 2) ? 6 : 3;
        b.months = longest * 2 / 3 / 6 * 6 + 6 * (int)lcg_next(&seed, longest / 18);
        b.protected_for = b.months / 3 + (int)lcg_next(&seed, 12);
        b.coupon = (2.5f + lcg_next(&seed, 30) * 0.1f) * b.every / 12;
        b.call_price = 100 + b.coupon / 2;
        b.call_level = 1 / (1 + (0.002f + lcg_next(&seed, 100) * 0.0002f) / 12);
    }

    Bond *d_bonds = device_copy_of(bonds.data(), count);
    float *d_discount = device_copy_of(discount.data(), discount.size());
    float *d_present = device_array<float>(count * CTAS_PER_BOND);
    const dim3 grid(count, CTAS_PER_BOND);
    pair_time(&p, [&] { present_values<<<grid, THREADS>>>(d_bonds, d_discount, scenarios, d_present); });

    std::vector<float> present = host_copy_of(d_present, count * CTAS_PER_BOND);
    for (int b = 0; b < count; b += p.small ? 3 : 19) {
        double got = 0;
        for (int y = 0; y < CTAS_PER_BOND; y++)
            got += present[y * count + b];
        pair_near(&p, "value", b, host_value(bonds[b], discount, scenarios) / scenarios, got / scenarios, 1e-4);
    }
    return pair_end(&p);
}
