// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the lanes of a warp take the same piece of 32 boards instead of the 32 pieces of one board.
// Why: pawns, knights, bishops, rooks, queens and kings move differently, and a warp has to go through all of it.
#include "../common.h"

typedef unsigned long long Squares;

enum { PIECES = 32, BLOCK = 256, WARPS = BLOCK / 32, BOARDS_PER_BLOCK = 32, TAKEN = 255 };
enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

struct Board {
    Squares white, black;
};

__host__ __device__ static inline bool on_board(int x, int y) { return x >= 0 && x < 8 && y >= 0 && y < 8; }

// What one step to (x, y) is worth: 0 when there is a friend, 1 when it is free, 3 when there is an enemy.
__host__ __device__ static inline int worth(int x, int y, Squares friends, Squares enemies) {
    Squares bit = 1ull << (8 * y + x);
    return friends & bit ? 0 : enemies & bit ? 3 : 1;
}

__host__ __device__ static inline int ray(int x, int y, int dx, int dy, Squares friends, Squares enemies) {
    int score = 0;
    for (x += dx, y += dy; on_board(x, y); x += dx, y += dy) {
        int here = worth(x, y, friends, enemies);
        score += here;
        if (here != 1)
            break;
    }
    return score;
}

__host__ __device__ static int mobility(int kind, int square, int forward, Squares friends, Squares enemies) {
    int x = square % 8, y = square / 8, score = 0;
    switch (kind) {
    case PAWN:
        y += forward;
        if (on_board(x, y) && !((friends | enemies) >> (8 * y + x) & 1))
            score++;
        for (int dx = -1; dx <= 1; dx += 2)
            if (on_board(x + dx, y) && enemies >> (8 * y + x + dx) & 1)
                score += 3;
        break;
    case KNIGHT:
        for (int k = 0; k < 8; k++) {
            int dx = k & 1 ? 1 : 2, dy = 3 - dx;
            dx = k & 2 ? -dx : dx;
            dy = k & 4 ? -dy : dy;
            if (on_board(x + dx, y + dy))
                score += worth(x + dx, y + dy, friends, enemies);
        }
        break;
    case BISHOP:
        for (int k = 0; k < 4; k++)
            score += ray(x, y, k & 1 ? 1 : -1, k & 2 ? 1 : -1, friends, enemies);
        score += 2 * (x == y || x == 7 - y);  // on a long diagonal
        break;
    case ROOK:
        for (int k = 0; k < 2; k++) {
            score += ray(x, y, k ? 1 : -1, 0, friends, enemies);
            score += ray(x, y, 0, k ? 1 : -1, friends, enemies);
        }
        if (!((0x0101010101010101ull << x) & friends & ~(1ull << square)))
            score += 2;  // on a file of its own
        break;
    case QUEEN:
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (dx || dy)
                    score += ray(x, y, dx, dy, friends, enemies);
        score /= 2;
        break;
    default:
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if ((dx || dy) && on_board(x + dx, y + dy))
                    score -= worth(x + dx, y + dy, friends, enemies) - 1;
        break;
    }
    return score;
}

__host__ __device__ static inline int kind_of(int piece) {
    int p = piece % 16;
    return p < 8 ? PAWN : p < 10 ? KNIGHT : p < 12 ? BISHOP : p < 14 ? ROOK : p == 14 ? QUEEN : KING;
}

// How freely each piece of each board can move; a block does 32 boards.
__global__ void free_moves(const Board *boards, const unsigned char *squares, signed char *scores) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < 32 / WARPS; k++) {
#ifdef AFTER
        int board = lane, piece = k * WARPS + warp;
#else
        int board = k * WARPS + warp, piece = lane;
#endif
        board += blockIdx.x * BOARDS_PER_BLOCK;
        int square = squares[board * PIECES + piece], score = 0;
        Board b = boards[board];
        bool white = piece < 16;
        if (square != TAKEN)
            score = mobility(kind_of(piece), square, white ? 1 : -1, white ? b.white : b.black,
                             white ? b.black : b.white);
        scores[board * PIECES + piece] = (signed char)score;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bishops");
    int blocks = p.small ? 1 : 132 * 16, n = blocks * BOARDS_PER_BLOCK;
    std::vector<Board> boards(n, Board{0, 0});
    std::vector<unsigned char> squares((size_t)n * PIECES);
    unsigned seed = 1;
    for (int b = 0; b < n; b++) {
        unsigned char all[64];
        for (int s = 0; s < 64; s++)
            all[s] = (unsigned char)s;
        for (int piece = 0; piece < PIECES; piece++) {
            std::swap(all[piece], all[piece + lcg_next(&seed, 64 - piece)]);
            bool there = piece % 16 == 15 || lcg_next(&seed, 4) != 0;
            squares[(size_t)b * PIECES + piece] = there ? all[piece] : (unsigned char)TAKEN;
            if (there)
                (piece < 16 ? boards[b].white : boards[b].black) |= 1ull << all[piece];
        }
    }
    Board *d_boards = device_copy_of(boards.data(), n);
    unsigned char *d_squares = device_copy_of(squares.data(), squares.size());
    signed char *d_scores = device_array<signed char>(squares.size());
    pair_time(&p, [&] { free_moves<<<blocks, BLOCK>>>(d_boards, d_squares, d_scores); });
    std::vector<signed char> scores = host_copy_of(d_scores, squares.size());
    for (int b = 0; b < n; b += p.small ? 1 : 7)
        for (int piece = 0; piece < PIECES; piece++) {
            size_t at = (size_t)b * PIECES + piece;
            bool white = piece < 16;
            int expected = squares[at] == TAKEN ? 0
                                                : mobility(kind_of(piece), squares[at], white ? 1 : -1,
                                                           white ? boards[b].white : boards[b].black,
                                                           white ? boards[b].black : boards[b].white);
            pair_near(&p, "score", at, expected, scores[at], 1e-9);
        }
    return pair_end(&p);
}
