// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the claims are handled in groups of one kind instead of in the order of their arrival.
// Why: each kind has a loop of its own, and a warp with claims of all four kinds goes through all four loops.
#include "../common.h"

enum { BLOCK = 128, KINDS = 4, GLASS = 0, BODY = 1, INJURY = 2, THEFT = 3 };

// What an insurer has to put aside for each claim on a car. order: which claim is whose turn.
__global__ void reserves(const int *order, const int *kinds, const float *amounts, const float *ages,
                         const float *shares, float *reserve) {
    int claim = order[blockIdx.x * BLOCK + threadIdx.x];
    float amount = amounts[claim], age = ages[claim], share = shares[claim], sum = 0;
    switch (kinds[claim]) {
    case GLASS:  // paid in four rates
        for (int rate = 0; rate < 4; rate++)
            sum += amount * (0.25f - 0.01f * (float)rate * share);
        break;
    case BODY: {  // a garage's bills over two years, each dearer than the last
        float bill = amount * 0.05f;
        for (int month = 0; month < 24; month++) {
            sum += bill;
            bill = fmaf(bill, 0.004f + 0.002f * share, bill) - 0.0001f * age;
        }
        break;
    }
    case INJURY: {  // a pension, as long as the person lives
        float alive = 1, value = amount * 0.02f, mortality = 0.0005f;
        for (int year = 0; year < 60; year++) {
            sum += alive * value;
            alive *= 1.0f - fminf(mortality, 1.0f);
            mortality = fmaf(mortality, 0.1f, mortality);
            value *= 0.985f + 0.01f * share;
        }
        break;
    }
    default: {  // the worth of the stolen car: it loses some in every quarter it has been driven
        float worth = amount;
        for (int quarter = 0; quarter < 40; quarter++) {
            float driven = __saturatef(4.0f * age - (float)quarter);
            worth -= worth * driven * (0.05f - 0.001f * (float)quarter * share);
        }
        sum = worth;
    }
    }
    reserve[claim] = sum;
}

static double reserve_of(int kind, double amount, double age, double share) {
    double sum = 0, bill = amount * 0.05, alive = 1, value = amount * 0.02, mortality = 0.0005, worth = amount;
    if (kind == GLASS)
        for (int rate = 0; rate < 4; rate++)
            sum += amount * (0.25 - 0.01 * rate * share);
    else if (kind == BODY)
        for (int month = 0; month < 24; month++) {
            sum += bill;
            bill += bill * (0.004 + 0.002 * share) - 0.0001 * age;
        }
    else if (kind == INJURY)
        for (int year = 0; year < 60; year++) {
            sum += alive * value;
            alive *= 1 - std::min(mortality, 1.0);
            mortality *= 1.1;
            value *= 0.985 + 0.01 * share;
        }
    else
        for (int quarter = 0; quarter < 40; quarter++)
            sum = worth -= worth * std::min(std::max(4 * age - quarter, 0.0), 1.0) * (0.05 - 0.001 * quarter * share);
    return sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "claims");
    int n = p.small ? 2048 : 1 << 22;
    std::vector<int> kinds(n), order(n);
    lcg_fill(kinds.data(), n, 1, KINDS);
    std::vector<float> amounts = random_floats(n, 1, 20, 2), ages = random_floats(n, 0, 12, 3),
                       shares = random_floats(n, 0, 1, 4);
    for (int i = 0; i < n; i++)
        order[i] = i;
#ifdef AFTER
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return kinds[a] < kinds[b]; });
#endif
    int *d_order = device_copy_of(order.data(), n), *d_kinds = device_copy_of(kinds.data(), n);
    float *d_amounts = device_copy_of(amounts.data(), n), *d_ages = device_copy_of(ages.data(), n),
          *d_shares = device_copy_of(shares.data(), n), *d_reserve = device_array<float>(n);
    pair_time(&p, [&] { reserves<<<n / BLOCK, BLOCK>>>(d_order, d_kinds, d_amounts, d_ages, d_shares, d_reserve); });
    std::vector<float> reserve = host_copy_of(d_reserve, n);
    for (int i = 0; i < n; i += 23)
        pair_near(&p, "reserve", i, reserve_of(kinds[i], amounts[i], ages[i], shares[i]), reserve[i], 1e-3);
    return pair_end(&p);
}
