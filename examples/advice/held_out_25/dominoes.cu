// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that draws a random number is inlined instead of called.
// Why: it is called for every domino, for each with a few operations only; and as it gets the address of the
// generator's state, that has to be in memory, not in registers.
#include "../common.h"

#ifdef AFTER
#define DRAWING __forceinline__
#else
#define DRAWING __noinline__  // one copy of the code, for all that draw
#endif

struct Generator {
    unsigned a, b, c, d, count;
};

// A number below `below`: Marsaglia's xorwow.
static __host__ __device__ DRAWING unsigned draw(Generator *g, unsigned below) {
    unsigned t = g->d, s = g->a;
    g->d = g->c;
    g->c = g->b;
    g->b = s;
    t ^= t >> 2;
    t ^= t << 1;
    t ^= s ^ s << 4;
    g->a = t;
    g->count += 362437;
    return (unsigned)((unsigned long long)(t + g->count) * below >> 32);
}

struct Setup {
    int dominoes, tries, tall_mm, mean_gap_mm, shake_mm, push;
};

struct Result {
    int complete, longest;
};

// Sets up rows with an unsteady hand, pushes the first domino of each, and sees how far they fall.
static __host__ __device__ Result play(const Setup &s, unsigned player) {
    Generator g = {player * 2654435761u + 1, player ^ 0x9e3779b9u, 362436069u + player * 69069u, 521288629u, 0};
    Result result = {0, 0};
    for (int t = 0; t < s.tries; t++) {
        int swing = s.push + (int)draw(&g, 64), fallen = 0;
        while (fallen < s.dominoes) {
            int gap = s.mean_gap_mm + (int)draw(&g, s.shake_mm);
            gap -= (int)draw(&g, s.shake_mm);
            if (gap >= s.tall_mm)  // cannot be reached
                break;
            swing += (gap - s.mean_gap_mm) * 2 - swing / 8 + 15;
            if (swing < 0)
                break;
            if (draw(&g, 1000) == 0)  // stands askew: falls aside
                break;
            fallen++;
        }
        result.complete += fallen == s.dominoes;
        if (fallen > result.longest)
            result.longest = fallen;
    }
    return result;
}

__global__ void topple(Setup setup, int players, Result *results) {
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player < players)
        results[player] = play(setup, player);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dominoes");
    Setup setup = {p.small ? 30 : 200, p.small ? 2 : 8, 49, 26, 24, 90};
    int players = p.small ? 320 : 132 * 1024, block = 128;
    Result *d_results = device_array<Result>(players);
    pair_time(&p, [&] { topple<<<(players + block - 1) / block, block>>>(setup, players, d_results); });
    std::vector<Result> results = host_copy_of(d_results, players);
    for (int i = 0; i < players; i += p.small ? 1 : 59) {
        Result expected = play(setup, i);
        pair_near(&p, "complete", i, expected.complete, results[i].complete, 1e-9);
        pair_near(&p, "longest", i, expected.longest, results[i].longest, 1e-9);
    }
    return pair_end(&p);
}
