// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the balance is kept in a register and stored once.
// Why: each month loads and stores it again, as amounts might lie where balances do.
#include "../common.h"

enum { BLOCK = 128, MONTHS = 48 };

// What is on each account after the bookings of four years, with interest.
__global__ void ledger(float *balance, const float *amounts, const float *rate, int accounts) {
    int a = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float now = 0;
    for (int m = 0; m < MONTHS; m++)
        now += now * rate[m] + amounts[m * accounts + a];
    balance[a] = now;
#else
    balance[a] = 0;
    for (int m = 0; m < MONTHS; m++)
        balance[a] += balance[a] * rate[m] + amounts[m * accounts + a];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ledger");
    int n = p.small ? 1 << 12 : 1 << 19;
    std::vector<float> amounts = random_floats((size_t)n * MONTHS, -1, 2, 1), rate = random_floats(MONTHS, 0, 0.01f, 2);
    float *d_amounts = device_copy_of(amounts.data(), amounts.size()), *d_rate = device_copy_of(rate.data(), MONTHS);
    float *d_balance = device_array<float>(n);
    pair_time(&p, [&] { ledger<<<n / BLOCK, BLOCK>>>(d_balance, d_amounts, d_rate, n); });
    std::vector<float> out = host_copy_of(d_balance, n);
    for (int a = 0; a < n; a += 997) {
        double now = 0;
        for (int m = 0; m < MONTHS; m++)
            now += now * rate[m] + amounts[(size_t)m * n + a];
        pair_near(&p, "balance", a, now, out[a], 1e-4);
    }
    return pair_end(&p);
}
