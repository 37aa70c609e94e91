// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: an echo is kept as a byte instead of an int.
// Why: echoes are from 0 to 255, so that three of four bytes read from memory were zero.
#include "../common.h"

#ifdef AFTER
typedef unsigned char Echo;
#else
typedef int Echo;
#endif

enum { WIDE = 64, HIGH = 4, STORM = 92 };

struct Cell {
    short strongest, scans_of_storm;  // the greatest echo, and how many were a storm's
    int first_scan;                   // of a storm; -1: none
};

// What a day's scans of a rain radar tell about each cell of its map.
__global__ void storms(const Echo *echoes, Cell *cells, int width, int height, int scans) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int strongest = 0, storm = 0, first = -1;
    for (int s = 0; s < scans; s++) {
        int echo = echoes[((size_t)s * height + y) * width + x];
        strongest = max(strongest, echo);
        if (echo >= STORM) {
            storm++;
            first = first < 0 ? s : first;
        }
    }
    Cell c = {(short)strongest, (short)storm, first};
    cells[y * width + x] = c;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thunderstorms");
    int width = p.small ? 130 : 1280, height = p.small ? 30 : 900, scans = p.small ? 6 : 48;
    int area = width * height;
    std::vector<Echo> echoes((size_t)area * scans);
    unsigned seed = 8;
    for (Echo &e : echoes)
        e = (Echo)(lcg_next(&seed, 1 << 16) * lcg_next(&seed, 1 << 16) >> 24);
    Echo *d_echoes = device_copy_of(echoes.data(), echoes.size());
    Cell *d_cells = device_array<Cell>(area);
    dim3 grid((width + WIDE - 1) / WIDE, (height + HIGH - 1) / HIGH), block(WIDE, HIGH);
    pair_time(&p, [&] { storms<<<grid, block>>>(d_echoes, d_cells, width, height, scans); });
    std::vector<Cell> cells = host_copy_of(d_cells, area);
    for (int i = 0; i < area; i += 89) {
        int strongest = 0, storm = 0, first = -1;
        for (int s = 0; s < scans; s++) {
            int echo = echoes[(size_t)s * area + i];
            strongest = std::max(strongest, echo);
            storm += echo >= STORM;
            if (echo >= STORM && first < 0)
                first = s;
        }
        pair_near(&p, "strongest", i, strongest, cells[i].strongest, 0);
        pair_near(&p, "scans_of_storm", i, storm, cells[i].scans_of_storm, 0);
        pair_near(&p, "first_scan", i, first, cells[i].first_scan, 0);
    }
    return pair_end(&p);
}
