// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the functions that throw the dice and move a checker are inlined.
// Why: both are a few instructions long, and are called at every turn of every game.
#include "../common.h"

#ifdef AFTER
#define RULE __forceinline__
#else
#define RULE __noinline__
#endif

enum { BLOCK = 128 };

// The next state of the random numbers; a die is shown by its upper bits.
__host__ __device__ RULE unsigned shake(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

// The home board is six counts of four bits, the lowest for the point next to the edge; a die moves one checker: off
// the board from just its point, else down from the highest point, else off from there.
__host__ __device__ RULE unsigned bear_off(unsigned board, int die) {
    int exact = 4 * (die - 1);
    if (board >> exact & 15)
        return board - (1u << exact);
#ifdef __CUDA_ARCH__
    int bits = 31 - __clz((int)board);
#else
    int bits = 31 - __builtin_clz(board);
#endif
    int top = bits & ~3;
    if (top > exact)
        return board - (1u << top) + (1u << (top - 4 * die));
    return board - (1u << top);
}

__host__ __device__ inline int play(unsigned board, unsigned &dice) {
    int turns = 0;
    while (board) {
        dice = shake(dice);
        int first = 1 + (int)((dice >> 16) * 6 >> 16), second = 1 + (int)((dice & 0xffff) * 6 >> 16);
        int moves = first == second ? 4 : 2;
        for (int m = 0; m < moves && board; m++)
            board = bear_off(board, m & 1 ? second : first);
        turns++;
    }
    return turns;
}

// How many turns it takes to bear off: the sum over a number of games from each of the boards.
__global__ void race(const unsigned *boards, unsigned *turns, int count, int games) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    unsigned board = boards[i], dice = 2463534242u + 7919u * i, sum = 0;
    for (int g = 0; g < games; g++)
        sum += play(board, dice);
    turns[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "backgammon");
    int n = p.small ? 256 : 132 * 768, games = p.small ? 1 : 32;
    std::vector<unsigned> boards(n, 0);
    unsigned seed = 1;
    for (unsigned &board : boards)
        for (int checker = 0; checker < 15; checker++)
            board += 1u << 4 * (checker % 3 ? lcg_next(&seed, 6) : lcg_next(&seed, 3));
    unsigned *d_boards = device_copy_of(boards.data(), n), *d_turns = device_array<unsigned>(n);
    pair_time(&p, [&] { race<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_boards, d_turns, n, games); });
    std::vector<unsigned> turns = host_copy_of(d_turns, n);
    for (int i = 0; i < n; i += p.small ? 1 : 29) {
        unsigned dice = 2463534242u + 7919u * i, sum = 0;
        for (int g = 0; g < games; g++)
            sum += play(boards[i], dice);
        pair_near(&p, "turns", i, sum, turns[i], 0);
    }
    return pair_end(&p);
}
