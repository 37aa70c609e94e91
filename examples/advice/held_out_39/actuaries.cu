// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the tariff are float like all that they are used with, not double.
// Why: one double in an expression makes the whole of it double: the loop over the years converts forth and back
//      and computes at half the rate, for results that are stored as float.
#include "../common.h"

enum { BLOCK = 256, OLDEST = 121 };

#ifdef AFTER
typedef float Rate;
#else
typedef double Rate;
#endif

// The company's assumptions.
__device__ constexpr Rate MID_YEAR = 0.5;          // deaths fall in the middle of the year
__device__ constexpr Rate CLAIM_EXPENSES = 1.035;  // of the sum insured
__device__ constexpr Rate PREMIUM_KEPT = 0.965;    // after commission
__device__ constexpr Rate INFLATION = 1.022;       // of the policy's yearly cost
__device__ constexpr Rate LAPSE_FLOOR = 0.012;     // share of policies given up in a late year
__device__ constexpr Rate LAPSE_EARLY = 0.07;      // more of them in the first one
__device__ constexpr Rate LAPSE_FADING = 0.78;     // from year to year
__device__ constexpr Rate SURRENDER_SHARE = 0.93;  // of the savings, paid to who gives up

struct Policy {
    float sum_insured, premium, yearly_cost, extra_risk;
    int age, years;
};

struct Reserve {
    float value, claims;
};

// mortality: chance to die within a year, by age; discount: of one year, by calendar year.
__global__ void value_policies(const Policy *policies, const float *mortality, const float *discount, Reserve *reserves,
                               int count) {
    __shared__ float die[OLDEST];
    for (int i = threadIdx.x; i < OLDEST; i += BLOCK) die[i] = mortality[i];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count) return;
    Policy p = policies[i];
    float alive = 1, worth = 1, savings = 0, early = LAPSE_EARLY, cost = p.yearly_cost;
    Reserve r = {0, 0};
    for (int year = 0; year < p.years; year++) {
        float q = fminf(die[min(p.age + year, OLDEST - 1)] * p.extra_risk, 1.f);
        float v = discount[year];
        float middle = worth * (1 - MID_YEAR * (1 - v));
        float premium = alive * worth * p.premium * PREMIUM_KEPT;
        float claims = alive * q * middle * p.sum_insured * CLAIM_EXPENSES;
        float lapse = (1 - q) * (LAPSE_FLOOR + early);
        savings = (savings + p.premium * PREMIUM_KEPT - q * p.sum_insured) / v;
        float surrender = alive * lapse * worth * v * fmaxf(savings, 0.f) * SURRENDER_SHARE;
        r.claims += claims;
        r.value += claims + surrender + alive * worth * cost - premium;
        alive = alive * (1 - q) * (1 - lapse);
        worth = worth * v;
        cost = cost * INFLATION;
        early = early * LAPSE_FADING;
    }
    reserves[i] = r;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "actuaries");
    int count = p.small ? 2048 : 1024 * 1024, longest = 60;
    std::vector<float> odds = random_floats((size_t)count * 4, 0, 1, 33), mortality(OLDEST), discount(longest);
    for (int age = 0; age < OLDEST; age++) mortality[age] = std::min(1.f, 0.0003f + 2.5e-5f * expf(0.095f * age));
    for (int year = 0; year < longest; year++) discount[year] = 1 / (1.01f + 0.02f * year / longest);
    std::vector<Policy> policies(count);
    unsigned seed = 34;
    for (int i = 0; i < count; i++) {
        const float *o = &odds[(size_t)i * 4];
        // The list is ordered by the end of the contract, so that neighbours run for about as long.
        int years = 15 + (int)(i * 40ll / count) + (int)lcg_next(&seed, 5), age = 20 + (int)lcg_next(&seed, 35);
        policies[i] = {20 + 200 * o[0], 0.3f + 2 * o[1], 0.05f + 0.02f * o[2], 0.8f + o[3], age, years};
    }
    Policy *d_policies = device_copy_of(policies.data(), count);
    float *d_mortality = device_copy_of(mortality.data(), OLDEST),
          *d_discount = device_copy_of(discount.data(), longest);
    Reserve *d_reserves = device_array<Reserve>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { value_policies<<<blocks, BLOCK>>>(d_policies, d_mortality, d_discount, d_reserves, count); });
    std::vector<Reserve> reserves = host_copy_of(d_reserves, count);
    for (int i = 0; i < count; i += p.small ? 1 : 499) {
        const Policy &c = policies[i];
        double alive = 1, worth = 1, savings = 0, early = 0.07, cost = c.yearly_cost, value = 0, sum = 0, size = 0;
        for (int year = 0; year < c.years; year++) {
            double q = std::min(1.0, (double)mortality[std::min(c.age + year, OLDEST - 1)] * c.extra_risk);
            double v = discount[year], premium = alive * worth * c.premium * 0.965;
            double claims = alive * q * worth * (1 - 0.5 * (1 - v)) * c.sum_insured * 1.035;
            double lapse = (1 - q) * (0.012 + early);
            savings = (savings + c.premium * 0.965 - q * c.sum_insured) / v;
            double surrender = alive * lapse * worth * v * std::max(savings, 0.0) * 0.93;
            sum += claims;
            value += claims + surrender + alive * worth * cost - premium;
            size += claims + surrender + alive * worth * cost + premium;
            alive *= (1 - q) * (1 - lapse), worth *= v, cost *= 1.022, early *= 0.78;
        }
        pair_near(&p, "claims", i, sum, reserves[i].claims, 1e-4);
        pair_near(&p, "value", i, value / (1 + size), reserves[i].value / (1 + size), 1e-4);
    }
    return pair_end(&p);
}
