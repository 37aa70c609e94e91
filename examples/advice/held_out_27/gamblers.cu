// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: one loop over the rounds of all games takes the place of a loop over games with a loop over rounds in it.
// Why: games differ much in length; in the nested loops the lanes of a warp wait after every game for the longest
// one, in the single loop a lane goes on with its next game at once.
#include "../common.h"

enum { BROKE = 0, RICH = 24, BLOCK = 512 };

__host__ __device__ inline unsigned spin(unsigned wheel) { return wheel * 1664525u + 1013904223u; }

// Each thread is a gambler who plays `games` games, each until all is lost or the goal is reached;
// rounds[game * n + gambler] tells how long they took, wins[gambler] how many were won.
__global__ void play(const unsigned *seeds, const int *chances, const int *purses, int *rounds, int *wins, int n,
                     int games) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned wheel = seeds[i];
    unsigned chance = chances[i];
    int purse = purses[i], won = 0;
#ifdef AFTER
    int game = 0, money = purse, round = 0;
    while (game < games) {
        wheel = spin(wheel);
        money += wheel >> 20 < chance ? 1 : -1;
        round++;
        bool over = money <= BROKE || money >= RICH;
        if (over) {
            rounds[(size_t)game * n + i] = round;
            won += money >= RICH;
        }
        game += over;
        money = over ? purse : money;
        round = over ? 0 : round;
    }
#else
    for (int game = 0; game < games; game++) {
        int money = purse, round = 0;
        while (money > BROKE && money < RICH) {
            wheel = spin(wheel);
            money += wheel >> 20 < chance ? 1 : -1;
            round++;
        }
        rounds[(size_t)game * n + i] = round;
        won += money >= RICH;
    }
#endif
    wins[i] = won;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gamblers");
    int n = p.small ? 200 : 132 * 2048, games = p.small ? 4 : 16;
    std::vector<unsigned> seeds(n);
    std::vector<int> chances(n), purses(n);
    lcg_fill(seeds.data(), n, 1, 1 << 24);
    lcg_fill(chances.data(), n, 2, 160);
    lcg_fill(purses.data(), n, 3, 6);
    for (int i = 0; i < n; i++) {
        seeds[i] = seeds[i] * 2654435761u + i;
        chances[i] += 1960;  // of 4096
        purses[i] += 9;
    }
    unsigned *d_seeds = device_copy_of(seeds.data(), n);
    int *d_chances = device_copy_of(chances.data(), n), *d_purses = device_copy_of(purses.data(), n),
        *d_rounds = device_array<int>((size_t)n * games), *d_wins = device_array<int>(n);
    pair_time(&p, [&] {
        play<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_seeds, d_chances, d_purses, d_rounds, d_wins, n, games);
    });
    std::vector<int> rounds = host_copy_of(d_rounds, (size_t)n * games), wins = host_copy_of(d_wins, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        unsigned wheel = seeds[i];
        int won = 0;
        for (int game = 0; game < games; game++) {
            int money = purses[i], round = 0;
            for (; money > BROKE && money < RICH; round++) {
                wheel = spin(wheel);
                money += (int)(wheel >> 20) < chances[i] ? 1 : -1;
            }
            won += money >= RICH;
            pair_near(&p, "rounds", (size_t)game * n + i, round, rounds[(size_t)game * n + i], 0);
        }
        pair_near(&p, "wins", i, won, wins[i], 0);
    }
    return pair_end(&p);
}
