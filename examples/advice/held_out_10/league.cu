// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: teams are dealt to the blocks in turn.
// Why: blocks with the teams that joined first have many more games to go through than those with the last.
#include "../common.h"

enum { BLOCK = 128, BLOCKS = 528 };

// What each team has won from those that joined later.
__global__ void league(const float *strength, float *out, int teams) {
    int each = (teams + BLOCKS - 1) / BLOCKS;
    for (int k = 0; k < each; k++) {
#ifdef AFTER
        int team = k * BLOCKS + blockIdx.x;
#else
        int team = blockIdx.x * each + k;
#endif
        if (team >= teams)
            break;
        float won = 0, own = strength[team];
        for (int other = team + 1 + threadIdx.x; other < teams; other += BLOCK) {
            float ahead = own - strength[other];
            won += ahead / (1.0f + fabsf(ahead));
        }
        for (int lane = 16; lane; lane /= 2)
            won += __shfl_xor_sync(~0u, won, lane);
        if (threadIdx.x % 32 == 0)
            out[team * (BLOCK / 32) + threadIdx.x / 32] = won;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "league");
    int teams = p.small ? 1056 : 16896;
    std::vector<float> strength = random_floats(teams, 0, 4, 1);
    float *d_strength = device_copy_of(strength.data(), teams),
          *d_out = device_array<float>((size_t)teams * (BLOCK / 32));
    pair_time(&p, [&] { league<<<BLOCKS, BLOCK>>>(d_strength, d_out, teams); });
    std::vector<float> out = host_copy_of(d_out, (size_t)teams * (BLOCK / 32));
    for (int team = 0; team < teams; team += 331) {
        double won = 0, got = 0;
        for (int other = team + 1; other < teams; other++) {
            double ahead = (double)strength[team] - strength[other];
            won += ahead / (1 + fabs(ahead));
        }
        for (int k = 0; k < BLOCK / 32; k++)
            got += out[(size_t)team * (BLOCK / 32) + k];
        pair_near(&p, "won", team, won, got, 1e-3);
    }
    return pair_end(&p);
}
