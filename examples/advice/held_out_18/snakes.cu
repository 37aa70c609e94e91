// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: where a square's snake or ladder leads is looked up in a table instead of found by a switch.
// Why: the switch is a tree of branches, and the lanes stand on different squares.
#include "../common.h"

enum { BLOCK = 256, GOAL = 100 };

#define BOARD(JUMP)                                                                                                    \
    JUMP(1, 38)                                                                                                        \
    JUMP(4, 14)                                                                                                        \
    JUMP(9, 31)                                                                                                        \
    JUMP(16, 6)                                                                                                        \
    JUMP(21, 42)                                                                                                       \
    JUMP(28, 84)                                                                                                       \
    JUMP(36, 44)                                                                                                       \
    JUMP(47, 26)                                                                                                       \
    JUMP(49, 11)                                                                                                       \
    JUMP(51, 67)                                                                                                       \
    JUMP(56, 53)                                                                                                       \
    JUMP(62, 19)                                                                                                       \
    JUMP(64, 60)                                                                                                       \
    JUMP(71, 91)                                                                                                       \
    JUMP(80, 100)                                                                                                      \
    JUMP(87, 24)                                                                                                       \
    JUMP(93, 73)                                                                                                       \
    JUMP(95, 75)                                                                                                       \
    JUMP(98, 78)

#define TURN(from, to)                                                                                                 \
    case from:                                                                                                         \
        return to;
__host__ __device__ int land(int square) {
    switch (square) { BOARD(TURN) }
    return square;
}

__host__ __device__ unsigned random_next(unsigned r) {
    r ^= r << 13;
    r ^= r >> 17;
    return r ^ r << 5;
}

__host__ __device__ unsigned random_first(unsigned player) {
    return random_next((player + 1) * 2654435761u | 1);
}

// Many players play snakes and ladders: how many games each finishes, how often a snake bites him, how far he climbs.
__global__ void play(int3 *results, const int *table, int turns) {
    int player = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ int jumps[GOAL + 1];
    for (int s = threadIdx.x; s <= GOAL; s += BLOCK)
        jumps[s] = table[s];
    __syncthreads();
#endif
    unsigned r = random_first(player);
    int square = 0, games = 0, bites = 0, climbed = 0;
    for (int turn = 0; turn < turns; turn++) {
        r = random_next(r);
        int next = square + 1 + (int)((r >> 16) * 6 >> 16);
        next = next > GOAL ? square : next;
#ifdef AFTER
        square = jumps[next];
#else
        square = land(next);
#endif
        bites += square < next;
        climbed += max(square - next, 0);
        games += square == GOAL;
        square = square == GOAL ? 0 : square;
    }
    results[player] = make_int3(games, bites, climbed);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "snakes");
    int blocks = p.small ? 1 : 1056, turns = p.small ? 24 : 400, players = blocks * BLOCK;
    std::vector<int> table(GOAL + 1);
    for (int s = 0; s <= GOAL; s++)
        table[s] = land(s);
    int *d_table = device_copy_of(table.data(), GOAL + 1);
    int3 *d_results = device_array<int3>(players);
    pair_time(&p, [&] { play<<<blocks, BLOCK>>>(d_results, d_table, turns); });
    std::vector<int3> results = host_copy_of(d_results, players);
    for (int player = 0; player < players; player += p.small ? 1 : 13) {
        unsigned r = random_first(player);
        int square = 0, games = 0, bites = 0, climbed = 0;
        for (int turn = 0; turn < turns; turn++) {
            r = random_next(r);
            int next = square + 1 + (int)((r >> 16) * 6 >> 16);
            if (next > GOAL)
                next = square;
            square = land(next);
            bites += square < next;
            climbed += std::max(square - next, 0);
            if (square == GOAL) {
                games++;
                square = 0;
            }
        }
        pair_near(&p, "games", player, games, results[player].x, 0);
        pair_near(&p, "bites", player, bites, results[player].y, 0);
        pair_near(&p, "climbed", player, climbed, results[player].z, 0);
    }
    return pair_end(&p);
}
