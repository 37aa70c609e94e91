// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the table of costs in shared memory is of bytes, not of ints.
// Why: a block takes 48 KB for numbers below 255; only four blocks of four warps fit on an SM, each waiting for its own
// last store.
#include "../common.h"

enum { BLOCK = 128, AMOUNTS = 96, NEVER = 200 };

#ifdef AFTER
typedef unsigned char Cost;
#else
typedef int Cost;
#endif

// The cheapest way for each child to pay each amount out of a piggy bank, where coins of a kind cost each child a fee;
// a block of children shares one currency. Writes the sum over the amounts, and how many cannot be paid.
__global__ void pay(const unsigned char *coins, const unsigned char *fees, int2 *result, int kinds, int children) {
    __shared__ Cost cheapest[AMOUNTS][BLOCK];
    int child = blockIdx.x * BLOCK + threadIdx.x, me = threadIdx.x;
    cheapest[0][me] = 0;
    for (int a = 1; a < AMOUNTS; a++)
        cheapest[a][me] = NEVER;
    for (int k = 0; k < kinds; k++) {
        int coin = coins[blockIdx.x * kinds + k], fee = fees[(size_t)k * children + child];
        for (int a = coin; a < AMOUNTS; a++) {
            int other = cheapest[a - coin][me] + fee;
            if (other < cheapest[a][me])
                cheapest[a][me] = other;
        }
    }
    int sum = 0, impossible = 0;
    for (int a = 0; a < AMOUNTS; a++) {
        int cost = cheapest[a][me];
        sum += cost < NEVER ? cost : 0;
        impossible += cost >= NEVER;
    }
    result[child] = make_int2(sum, impossible);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "piggy_banks");
    int blocks = p.small ? 12 : 132 * 48, kinds = p.small ? 3 : 6, children = blocks * BLOCK;
    std::vector<unsigned char> coins(blocks * kinds), fees((size_t)kinds * children);
    unsigned seed = 1;
    for (size_t k = 0; k < coins.size(); k++)
        coins[k] = 2 + lcg_next(&seed, 18);
    for (unsigned char &fee : fees)
        fee = 1 + lcg_next(&seed, 2);
    unsigned char *d_coins = device_copy_of(coins.data(), coins.size()),
                  *d_fees = device_copy_of(fees.data(), fees.size());
    int2 *d_result = device_array<int2>(children);
    pair_time(&p, [&] { pay<<<blocks, BLOCK>>>(d_coins, d_fees, d_result, kinds, children); });
    std::vector<int2> result = host_copy_of(d_result, children);
    for (int child = 0; child < children; child += p.small ? 1 : 53) {
        int cheapest[AMOUNTS], sum = 0, impossible = 0;
        for (int a = 0; a < AMOUNTS; a++)
            cheapest[a] = a ? (int)NEVER : 0;
        for (int k = 0; k < kinds; k++)
            for (int coin = coins[child / BLOCK * kinds + k], a = coin; a < AMOUNTS; a++)
                cheapest[a] = std::min(cheapest[a], cheapest[a - coin] + fees[(size_t)k * children + child]);
        for (int a = 0; a < AMOUNTS; a++) {
            sum += cheapest[a] < NEVER ? cheapest[a] : 0;
            impossible += cheapest[a] >= NEVER;
        }
        pair_near(&p, "sum", child, sum, result[child].x, 0);
        pair_near(&p, "impossible", child, impossible, result[child].y, 0);
    }
    return pair_end(&p);
}
