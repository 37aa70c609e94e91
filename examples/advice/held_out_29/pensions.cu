// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the contracts are sorted by kind and by how long they run before the kernel gets them.
// Why: the lanes of a warp then go through the same kind's loop, equally often.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4 };

struct Contract {
    float amount, age;
    unsigned short kind, years;
    float interest;
};

// The present value of one contract. Mortality grows by Gompertz' law.
__host__ __device__ inline float present_value(const Contract &c) {
    float alive = 1, value = 0, discount = 1, step = 1 / (1 + c.interest), dying = 0.00004f * expf(0.095f * c.age);
    switch (c.kind) {
    case 0:  // term insurance: pays at death
        for (int y = 0; y < c.years; y++) {
            discount *= step;
            value += c.amount * discount * alive * dying;
            alive *= 1 - dying;
            dying = fminf(dying * 1.0997f, 0.9f);
        }
        break;
    case 1:  // pension that follows prices, which settle over the years
        for (int y = 0; y < c.years; y++) {
            float inflation = 0.02f + 0.03f * expf(-0.3f * y);
            alive *= expf(-dying);
            dying *= 1.0997f;
            discount *= step * (1 + inflation);
            value += c.amount * alive * discount;
        }
        break;
    case 2:  // savings with a guarantee and a fee that falls with the fund's size
        for (int y = 0; y < c.years; y++) {
            float fee = 0.004f + 0.01f / (1 + 0.1f * value);
            value = fmaxf((value + c.amount) * (1 + c.interest - fee), value + 0.98f * c.amount);
            discount *= step;
        }
        value *= discount;
        break;
    default:  // disability: from work to disabled and back
        float disabled = 0;
        for (int y = 0; y < c.years; y++) {
            float falls = 0.002f + 0.03f * sqrtf(dying), rises = 0.15f * expf(-0.1f * y);
            float move = alive * falls - disabled * rises;
            disabled = (disabled + move) * (1 - 2 * dying);
            alive = (alive - move) * (1 - dying);
            dying = fminf(dying * 1.0997f, 0.4f);
            discount *= step;
            value += c.amount * disabled * discount;
        }
    }
    return value;
}

__global__ void pensions(const Contract *book, float *values, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        values[i] = present_value(book[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pensions");
    int count = p.small ? 6000 : 2000000;
    std::vector<Contract> book(count);
    unsigned seed = 7;
    for (Contract &c : book) {
        c.amount = 1 + 0.01f * lcg_next(&seed, 1000);
        c.age = 20 + 0.1f * lcg_next(&seed, 300);
        c.kind = (unsigned short)lcg_next(&seed, KINDS);
        c.years = (unsigned short)(10 + lcg_next(&seed, 36));
        c.interest = 0.01f + 0.0001f * lcg_next(&seed, 300);
    }
#ifdef AFTER
    std::sort(book.begin(), book.end(), [](const Contract &a, const Contract &b) {
        return a.kind != b.kind ? a.kind < b.kind : a.years < b.years;
    });
#endif
    Contract *d_book = device_copy_of(book.data(), count);
    float *d_values = device_array<float>(count);
    pair_time(&p, [&] { pensions<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_book, d_values, count); });
    std::vector<float> values = host_copy_of(d_values, count);
    for (int i = 0; i < count; i += p.small ? 17 : 1009)
        pair_near(&p, "value", i, present_value(book[i]), values[i], 1e-3);
    return pair_end(&p);
}
