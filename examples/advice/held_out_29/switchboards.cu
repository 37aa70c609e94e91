// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the zone of a line is looked up in one table instead of in that of the line's switchboard.
// Why: one scattered load less is between a call and its tariff, and each of them waits for the one before.
#include "../common.h"

enum { BLOCK = 256 };

struct Tariff {
    float connection, per_second;
};

struct Network {
    const int *line_board;  // the switchboard of a line
    const int *board_zone;  // the zone of a switchboard
    const int *line_zone;   // the zone of a line
    const Tariff *tariffs;  // of each zone
};

// What each call costs, by the zone of the line that was called.
__global__ void bill(Network net, const int *called, const unsigned short *seconds, float *cost, int calls) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= calls)
        return;
#ifdef AFTER
    int zone = net.line_zone[called[i]];
#else
    int zone = net.board_zone[net.line_board[called[i]]];
#endif
    Tariff t = net.tariffs[zone];
    cost[i] = t.connection + t.per_second * seconds[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "switchboards");
    int lines = p.small ? 3000 : 1700000, boards = p.small ? 500 : 650000, zones = p.small ? 40 : 600;
    int calls = p.small ? 25000 : 9000000;
    std::vector<int> line_board(lines), board_zone(boards), line_zone(lines), called(calls);
    lcg_fill(line_board.data(), lines, 1, boards);
    lcg_fill(board_zone.data(), boards, 2, zones);
    lcg_fill(called.data(), calls, 3, lines);
    for (int l = 0; l < lines; l++)
        line_zone[l] = board_zone[line_board[l]];
    std::vector<unsigned short> seconds(calls);
    lcg_fill(seconds.data(), calls, 4, 3600);
    std::vector<float> prices = random_floats(2 * zones, 0.001f, 0.09f, 5);
    std::vector<Tariff> tariffs(zones);
    for (int z = 0; z < zones; z++)
        tariffs[z] = {prices[2 * z], 0.1f * prices[2 * z + 1]};
    Network net = {device_copy_of(line_board.data(), lines), device_copy_of(board_zone.data(), boards),
                   device_copy_of(line_zone.data(), lines), device_copy_of(tariffs.data(), zones)};
    int *d_called = device_copy_of(called.data(), calls);
    unsigned short *d_seconds = device_copy_of(seconds.data(), calls);
    float *d_cost = device_array<float>(calls);
    int blocks = (calls + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { bill<<<blocks, BLOCK>>>(net, d_called, d_seconds, d_cost, calls); });
    std::vector<float> cost = host_copy_of(d_cost, calls);
    for (int i = 0; i < calls; i += 911) {
        Tariff t = tariffs[board_zone[line_board[called[i]]]];
        pair_near(&p, "cost", i, t.connection + (double)t.per_second * seconds[i], cost[i], 1e-5);
    }
    return pair_end(&p);
}
