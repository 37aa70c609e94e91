// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the tariffs are rows of a table (rate, fixed part, least, most) for one formula, not cases of a switch.
// Why: the lanes of a warp have payments of all kinds, so that the warp runs through nearly every case of the switch.
#include "../common.h"

enum { BLOCK = 192, KINDS = 12 };

// The fee of one card payment.
__host__ __device__ static inline float tariff(int kind, float amount) {
    switch (kind) {
    case 0: return 0.30f + 0.014f * amount;                    // online
    case 1: return fminf(0.05f + 0.002f * amount, 0.60f);      // debit
    case 2: return 0.019f * amount;                            // credit
    case 3: return fmaxf(0.029f * amount, 0.50f);              // abroad
    case 4: return 0.22f;                                      // petrol
    case 5: return fminf(fmaxf(0.01f * amount, 0.10f), 1.5f);  // travel
    case 6: return fmaxf(0.035f * amount - 0.40f, 0.0f);       // gambling
    case 7: return fminf(0.008f * amount, 0.90f);              // groceries
    case 8: return 2.50f + 0.03f * amount;                     // cash
    case 9: return fmaxf(0.12f + 0.005f * amount, 0.25f);      // vending
    case 10: return fminf(0.75f + 0.01f * amount, 3.0f);       // hotels
    default: return 0;                                         // charity
    }
}

#ifdef AFTER
struct alignas(16) Tariff {
    float rate, fixed, least, most;
};

__device__ const Tariff TARIFFS[KINDS] = {
    {0.014f, 0.30f, 0, 1e9f}, {0.002f, 0.05f, 0, 0.60f},    {0.019f, 0, 0, 1e9f},      {0.029f, 0, 0.50f, 1e9f},
    {0, 0.22f, 0, 1e9f},      {0.01f, 0, 0.10f, 1.5f},      {0.035f, -0.40f, 0, 1e9f}, {0.008f, 0, 0, 0.90f},
    {0.03f, 2.50f, 0, 1e9f},  {0.005f, 0.12f, 0.25f, 1e9f}, {0.01f, 0.75f, 0, 3.0f},   {0, 0, 0, 1e9f},
};
#endif

// What each account owes for its month: payment k of account a is at [k][a].
__global__ void month_fees(const unsigned char *kinds, const float *amounts, float *fees, int accounts, int payments) {
#ifdef AFTER
    __shared__ Tariff table[KINDS];
    if (threadIdx.x < KINDS)
        table[threadIdx.x] = TARIFFS[threadIdx.x];
    __syncthreads();
#endif
    int a = blockIdx.x * BLOCK + threadIdx.x;
    if (a >= accounts)
        return;
    float sum = 0;
    for (int k = 0; k < payments; k++) {
        int kind = kinds[(size_t)k * accounts + a];
        float amount = amounts[(size_t)k * accounts + a];
#ifdef AFTER
        Tariff t = table[kind];
        sum += fminf(fmaxf(t.rate * amount + t.fixed, t.least), t.most);
#else
        sum += tariff(kind, amount);
#endif
    }
    fees[a] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wallets");
    int accounts = p.small ? 3000 : 230000, payments = p.small ? 30 : 110;
    size_t count = (size_t)accounts * payments;
    std::vector<unsigned char> kinds(count);
    lcg_fill(kinds.data(), count, 11, KINDS);
    std::vector<float> amounts = random_floats(count, 1, 250, 1);
    unsigned char *d_kinds = device_copy_of(kinds.data(), count);
    float *d_amounts = device_copy_of(amounts.data(), count), *d_fees = device_array<float>(accounts);
    pair_time(&p, [&] {
        month_fees<<<(accounts + BLOCK - 1) / BLOCK, BLOCK>>>(d_kinds, d_amounts, d_fees, accounts, payments);
    });
    std::vector<float> fees = host_copy_of(d_fees, accounts);
    for (int a = 0; a < accounts; a += 89) {
        double sum = 0;
        for (int k = 0; k < payments; k++)
            sum += tariff(kinds[(size_t)k * accounts + a], amounts[(size_t)k * accounts + a]);
        pair_near(&p, "fees", a, sum, fees[a], 1e-4);
    }
    return pair_end(&p);
}
