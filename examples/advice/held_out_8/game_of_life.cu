// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the board has a margin of dead cells, so that no test is needed whether a neighbour lies on it.
// Why: but for cells at the edge the eight tests always have the same result.
#include "../common.h"

enum { BLOCK = 256, WIDTH = 8192 };
#ifdef AFTER
enum { MARGIN = 1 };
#else
enum { MARGIN = 0 };
#endif
enum { PITCH = WIDTH + 2 * MARGIN };

// The next generation of Conway's game.
__global__ void game_of_life(const unsigned char *board, unsigned char *out, int height) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y, count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
#ifndef AFTER
            if (x + dx < 0 || x + dx >= WIDTH || y + dy < 0 || y + dy >= height)
                continue;
#endif
            if (dx || dy)
                count += board[(y + dy + MARGIN) * PITCH + x + dx + MARGIN];
        }
    int alive = board[(y + MARGIN) * PITCH + x + MARGIN];
    out[y * WIDTH + x] = count == 3 || (alive && count == 2);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "game_of_life");
    int height = p.small ? 8 : 4096, n = WIDTH * height;
    std::vector<unsigned char> cells(n), board((size_t)PITCH * (height + 2 * MARGIN));
    lcg_fill(cells.data(), n, 1, 2);
    for (int y = 0; y < height; y++)
        memcpy(&board[(size_t)(y + MARGIN) * PITCH + MARGIN], &cells[(size_t)y * WIDTH], WIDTH);
    unsigned char *d_board = device_copy_of(board.data(), board.size()), *d_out = device_array<unsigned char>(n);
    pair_time(&p, [&] { game_of_life<<<dim3(WIDTH / BLOCK, height), BLOCK>>>(d_board, d_out, height); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 997) {
        int count = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = i % WIDTH + dx, y = i / WIDTH + dy;
                count += (dx || dy) && x >= 0 && x < WIDTH && y >= 0 && y < height && cells[y * WIDTH + x];
            }
        pair_near(&p, "cell", i, count == 3 || (cells[i] && count == 2), out[i], 0);
    }
    return pair_end(&p);
}
