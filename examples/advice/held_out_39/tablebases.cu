// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: attacked() is inlined where it is used; it was kept out of line to hold the code small.
// Why: it is asked for every flight square after every move of White, so calling, returning and passing the position
//      through the fixed registers costs about as much as its few comparisons, and nothing moves out of the loops.
#include "../common.h"

enum { BLOCK = 128, OFF_BOARD = 64 };
#ifdef AFTER
#define PLACED __forceinline__
#else
#define PLACED __noinline__
#endif

// White has king, rook and pawn, Black the bare king. Squares are 8 * rank + file; OFF_BOARD means taken.
struct Men {
    int king, rook, pawn, black;
};

__host__ __device__ static PLACED bool attacked(Men men, int square) {
    int rank = square >> 3, file = square & 7;
    int across = (men.king & 7) - file, along = (men.king >> 3) - rank;
    if (across * across <= 1 && along * along <= 1) return true;
    if (men.pawn != OFF_BOARD && (men.pawn >> 3) + 1 == rank) {
        int aside = (men.pawn & 7) - file;
        if (aside * aside == 1) return true;
    }
    if (men.rook == OFF_BOARD || men.rook == square) return false;
    int step;
    if (men.rook >> 3 == rank)
        step = (men.rook & 7) < file ? 1 : -1;
    else if ((men.rook & 7) == file)
        step = men.rook < square ? 8 : -8;
    else
        return false;
    // Only the king and the pawn can stand in between; the black king itself does not shield a square behind it.
    int to_king = (men.king - men.rook) * step, to_pawn = (men.pawn - men.rook) * step;
    int reach = (square - men.rook) * step, size = step * step;
    bool king_between = to_king > 0 && to_king < reach && (size == 1 || to_king % 64 == 0);
    bool pawn_between = men.pawn != OFF_BOARD && to_pawn > 0 && to_pawn < reach && (size == 1 || to_pawn % 64 == 0);
    return !king_between && !pawn_between;
}

// Black is to move: in check and without a safe square.
__host__ __device__ static inline bool mated(const Men &men) {
    if (!attacked(men, men.black)) return false;
    for (int d = 0; d < 9; d++) {
        int rank = (men.black >> 3) + d / 3 - 1, file = (men.black & 7) + d % 3 - 1, to = rank * 8 + file;
        if (d == 4 || rank < 0 || rank > 7 || file < 0 || file > 7) continue;
        Men left = men;
        if (to == men.rook) left.rook = OFF_BOARD;
        if (to == men.pawn) left.pawn = OFF_BOARD;
        if (!attacked(left, to)) return false;
    }
    return true;
}

// The number of Black's free squares next to its king.
__host__ __device__ static inline int flights(const Men &men) {
    int count = 0;
    for (int d = 0; d < 9; d++) {
        int rank = (men.black >> 3) + d / 3 - 1, file = (men.black & 7) + d % 3 - 1;
        if (d != 4 && rank >= 0 && rank < 8 && file >= 0 && file < 8) count += !attacked(men, rank * 8 + file);
    }
    return count;
}

// White is to move: moves of the rook that mate (upper bits) and the fewest free squares that one leaves.
__host__ __device__ static inline int judge(unsigned code) {
    Men men = {(int)(code & 63), (int)(code >> 6 & 63), (int)(code >> 12 & 63), (int)(code >> 18 & 63)};
    int mates = 0, fewest = 9;
    for (int direction = 0; direction < 4; direction++) {
        int dr = direction == 0 ? 1 : direction == 1 ? -1 : 0, df = direction == 2 ? 1 : direction == 3 ? -1 : 0;
        int rank = (men.rook >> 3) + dr, file = (men.rook & 7) + df;
        for (; rank >= 0 && rank < 8 && file >= 0 && file < 8; rank += dr, file += df) {
            Men moved = men;
            moved.rook = rank * 8 + file;
            if (moved.rook == men.king || moved.rook == men.pawn || moved.rook == men.black) break;
            int free = flights(moved);
            fewest = free < fewest ? free : fewest;
            mates += free == 0 && mated(moved);
        }
    }
    return mates * 16 + fewest;
}

__global__ void judge_positions(const unsigned *positions, int *verdicts, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) verdicts[i] = judge(positions[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tablebases");
    int count = p.small ? 768 : 512 * 1024;
    std::vector<unsigned> positions;
    unsigned seed = 64;
    while ((int)positions.size() < count) {
        unsigned king = lcg_next(&seed, 64), rook = lcg_next(&seed, 64), pawn = 8 + lcg_next(&seed, 48);
        unsigned black = lcg_next(&seed, 4) ? lcg_next(&seed, 8) * 8 : lcg_next(&seed, 64);  // mostly at the edge
        if (king != rook && king != pawn && king != black && rook != pawn && rook != black && pawn != black)
            positions.push_back(king | rook << 6 | pawn << 12 | black << 18);
    }
    unsigned *d_positions = device_copy_of(positions.data(), count);
    int *d_verdicts = device_array<int>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { judge_positions<<<blocks, BLOCK>>>(d_positions, d_verdicts, count); });
    std::vector<int> verdicts = host_copy_of(d_verdicts, count);
    for (int i = 0; i < count; i += p.small ? 1 : 101)
        pair_near(&p, "verdicts", i, judge(positions[i]), verdicts[i], 0);
    return pair_end(&p);
}
