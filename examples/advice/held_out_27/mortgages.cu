// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 128 threads, not 1024, so that there are eight times as many of them.
// Why: 64 blocks keep 64 multiprocessors busy, and all the others of a big GPU have nothing to do.
#include "../common.h"

#ifdef AFTER
#define BLOCK 128
#else
#define BLOCK 1024
#endif

#define SCENARIOS 12
#define YEARS 40

struct Mortgage {
    double principal, payment, margin;
};

struct Outcome {
    double interest, worst;
    int months;
};

// What the bank's customers pay until their houses are theirs, over all scenarios of the rates; one thread each.
__global__ void __launch_bounds__(BLOCK)
    pay_off(const Mortgage *mortgages, const double *rates, Outcome *outcomes, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Mortgage own = mortgages[i];
    Outcome sum = {0, 0, 0};
    for (int s = 0; s < SCENARIOS; s++) {
        double balance = own.principal, paid = 0;
        for (int year = 0; year < YEARS && balance > 0; year++) {
            double monthly = (rates[s * YEARS + year] + own.margin) / 12;
            for (int month = 0; month < 12 && balance > 0; month++) {
                double interest = balance * monthly;
                paid += interest;
                balance += interest - own.payment;
                sum.months++;
            }
        }
        sum.interest += paid;
        sum.worst = fmax(sum.worst, paid);
    }
    outcomes[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mortgages");
    int n = p.small ? 256 : 64 * 1024;
    std::vector<float> raw = random_floats((size_t)n * 3, 0, 1, 1), shocks = random_floats(SCENARIOS * YEARS, -1, 1, 2);
    std::vector<Mortgage> mortgages(n);
    for (int i = 0; i < n; i++) {
        const float *r = &raw[3 * (size_t)i];
        double principal = 1e5 + 3e5 * r[0], share = p.small ? 0.04 + 0.02 * r[1] : 0.0065 + 0.005 * r[1];
        mortgages[i] = {principal, principal * share, 0.005 + 0.02 * r[2]};
    }
    std::vector<double> rates(SCENARIOS * YEARS);
    for (int s = 0; s < SCENARIOS; s++)
        for (int year = 0; year < YEARS; year++) {
            double before = year ? rates[s * YEARS + year - 1] : 0.02;
            rates[s * YEARS + year] = std::min(0.045, std::max(0.001, before + 0.01 * shocks[s * YEARS + year]));
        }
    Mortgage *d_mortgages = device_copy_of(mortgages.data(), n);
    double *d_rates = device_copy_of(rates.data(), rates.size());
    Outcome *d_outcomes = device_array<Outcome>(n);
    pair_time(&p, [&] { pay_off<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_mortgages, d_rates, d_outcomes, n); });
    std::vector<Outcome> outcomes = host_copy_of(d_outcomes, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        const Mortgage &own = mortgages[i];
        double total = 0, worst = 0;
        int months = 0;
        for (int s = 0; s < SCENARIOS; s++) {
            double balance = own.principal, paid = 0;
            for (int month = 0; month < 12 * YEARS && balance > 0; month++, months++) {
                double interest = balance * ((rates[s * YEARS + month / 12] + own.margin) / 12);
                paid += interest;
                balance += interest - own.payment;
            }
            total += paid;
            worst = std::max(worst, paid);
        }
        pair_near(&p, "interest", i, total, outcomes[i].interest, 1e-8);
        pair_near(&p, "worst", i, worst, outcomes[i].worst, 1e-8);
        pair_near(&p, "months", i, months, outcomes[i].months, 0);
    }
    return pair_end(&p);
}
