// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the grid has as many CTAs as are resident at once (two on each of 132 SMs) instead of one for 16 tables.
// Why: 272 CTAs were one full wave of 264 and a second one of eight, for which the rest of the GPU waited.
#include "../common.h"

enum { SEATS = 1024, TABLES_EACH = 16, RESIDENT = 2 * 132 };

__host__ __device__ inline unsigned next_spin(unsigned *state) {
    unsigned s = *state;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    *state = s;
    return (unsigned)(((unsigned long long)s * 37) >> 32);
}

// What one player has left who bets on red and doubles the bet whenever he lost, up to the house's limit.
__host__ __device__ inline int play(unsigned player, int spins, int limit) {
    unsigned state = player * 2654435761u + 0x9e3779b9u;
    state = state ? state : 1;
    int purse = 0, bet = 1;
    for (int s = 0; s < spins; s++) {
        unsigned pocket = next_spin(&state);
        bool red = pocket >= 1 && pocket <= 18;
        purse += red ? bet : -bet;
        bet = red || 2 * bet > limit ? 1 : 2 * bet;
    }
    return purse;
}

// A CTA plays whole tables of SEATS players.
__global__ void __launch_bounds__(SEATS, 2) roulettes(int *purses, int tables, int spins, int limit) {
    for (int table = blockIdx.x; table < tables; table += gridDim.x) {
        int player = table * SEATS + threadIdx.x;
        purses[player] = play(player, spins, limit);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "roulettes");
    int tables = p.small ? 48 : 4352, spins = p.small ? 12 : 90, limit = 500;
#ifdef AFTER
    int grid = std::min(tables, (int)RESIDENT);
#else
    int grid = (tables + TABLES_EACH - 1) / TABLES_EACH;
#endif
    int *d_purses = device_array<int>((size_t)tables * SEATS);
    pair_time(&p, [&] { roulettes<<<grid, SEATS>>>(d_purses, tables, spins, limit); });
    std::vector<int> purses = host_copy_of(d_purses, (size_t)tables * SEATS);
    for (int i = 0; i < tables * SEATS; i += 1 + tables / 3)
        pair_near(&p, "purse", i, play(i, spins, limit), purses[i], 0);
    return pair_end(&p);
}
