// SPDX-License-Identifier: Apache-2.0
//
// Rule: random-states
// Change: each thread has a seed of its own and sequence 0, no longer a sequence of its own.
// Why: for its own sequence each thread multiplies the state of XORWOW by matrices, thousands of loads, before it
// throws the first dice.
#include "common.h"

#include <curand_kernel.h>

enum { BLOCK = 128, DICE = 5, THROWS = 32, WANTED = 25 };

__global__ void throw_dice(unsigned long long seed, unsigned *wins) {
    unsigned thread = blockIdx.x * BLOCK + threadIdx.x, won = 0;
    curandState state;
#ifdef AFTER
    curand_init(seed + thread, 0, 0, &state);
#else
    curand_init(seed, thread, 0, &state);
#endif
    for (int t = 0; t < THROWS; t++) {
        unsigned sum = 0;
        for (int d = 0; d < DICE; d++)
            sum += 1 + __umulhi(curand(&state), 6);
        won += sum >= WANTED;
    }
    wins[thread] = won;
}

static double exact_odds() {
    int wanted = 0, all = 1;
    for (int d = 0; d < DICE; d++)
        all *= 6;
    for (int i = 0; i < all; i++) {
        int sum = DICE;
        for (int rest = i, d = 0; d < DICE; d++, rest /= 6)
            sum += rest % 6;
        wanted += sum >= WANTED;
    }
    return (double)wanted / all;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dice_odds");
    int blocks = p.small ? 64 : 16384;
    unsigned *d_wins = device_array<unsigned>((size_t)blocks * BLOCK);
    pair_time(&p, [&] { throw_dice<<<blocks, BLOCK>>>(2026, d_wins); });
    std::vector<unsigned> wins = host_copy_of(d_wins, (size_t)blocks * BLOCK);
    double won = 0, throws = (double)blocks * BLOCK * THROWS;
    for (unsigned w : wins)
        won += w;
    pair_near(&p, "odds", 0, exact_odds(), won / throws, p.small ? 0.01 : 0.0005);
    return pair_end(&p);
}
