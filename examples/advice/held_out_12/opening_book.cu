// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks have 256 threads instead of 32.
// Why: an SM holds at most 32 blocks, so blocks of one warp fill half of it, and probes wait for memory.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256, MOVES = 8 };
#else
enum { BLOCK = 32, MOVES = 8 };
#endif

struct Entry {
    unsigned long long key;  // 0: free
    int score, games;
};

static __host__ __device__ inline unsigned long long mixed(unsigned long long x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

// Looks up what follows each of eight moves in a book of chess openings and takes the one with the best score.
__global__ void opening_book(const ulonglong2 *book, const unsigned long long *positions,
                             const unsigned long long *moves, int2 *answers, unsigned mask) {
    int i = blockIdx.x * BLOCK + threadIdx.x, best = -1, best_score = -1;
    unsigned long long position = positions[i];
    for (int m = 0; m < MOVES; m++) {
        unsigned long long key = position ^ moves[m];
        unsigned at = (unsigned)(mixed(key) >> 20) & mask;
        ulonglong2 entry = book[at];
        while (entry.x != key && entry.x != 0) {
            at = (at + 1) & mask;
            entry = book[at];
        }
        int score = (int)(unsigned)entry.y;
        if (entry.x == key && score > best_score) {
            best_score = score;
            best = m;
        }
    }
    answers[i] = make_int2(best, best_score);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "opening_book");
    int n = p.small ? 1 << 11 : 1 << 19;
    unsigned size = p.small ? 1 << 11 : 1 << 22, mask = size - 1, seed = 1;
    std::vector<unsigned long long> positions(n), moves(MOVES);
    for (int m = 0; m < MOVES; m++)
        moves[m] = mixed(1000003ull * (unsigned long long)(m + 1));
    for (int i = 0; i < n; i++)
        positions[i] = mixed(((unsigned long long)i << 24) + 12345);
    std::vector<Entry> book(size, Entry{0, 0, 0});
    for (unsigned filled = 0; filled < size / 2; filled++) {  // most are reached by a move from some position
        unsigned long long key = positions[lcg_next(&seed, (unsigned)n)] ^ moves[lcg_next(&seed, MOVES)];
        unsigned at = (unsigned)(mixed(key) >> 20) & mask;
        while (book[at].key != 0 && book[at].key != key)
            at = (at + 1) & mask;
        book[at] = {key, (int)(filled % 1000), 1};
    }
    ulonglong2 *d_book = (ulonglong2 *)device_copy_of(book.data(), size);
    unsigned long long *d_positions = device_copy_of(positions.data(), n),
                       *d_moves = device_copy_of(moves.data(), MOVES);
    int2 *d_answers = device_array<int2>(n);
    pair_time(&p, [&] { opening_book<<<n / BLOCK, BLOCK>>>(d_book, d_positions, d_moves, d_answers, mask); });
    std::vector<int2> answers = host_copy_of(d_answers, n);
    for (int i = 0; i < n; i += 41) {
        int best = -1, best_score = -1;
        for (int m = 0; m < MOVES; m++) {
            unsigned long long key = positions[i] ^ moves[m];
            unsigned at = (unsigned)(mixed(key) >> 20) & mask;
            while (book[at].key != 0 && book[at].key != key)
                at = (at + 1) & mask;
            if (book[at].key == key && book[at].score > best_score) {
                best_score = book[at].score;
                best = m;
            }
        }
        pair_near(&p, "move", i, best, answers[i].x, 0);
        pair_near(&p, "score", i, best_score, answers[i].y, 0);
    }
    return pair_end(&p);
}
