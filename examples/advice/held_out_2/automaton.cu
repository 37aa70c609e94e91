// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the table of transitions in shared memory has 16 bits an entry instead of 32.
// Why: the table is 48 KiB, so that four blocks of 128 threads are resident; with half of it nine are.
#include "../common.h"

enum { BLOCK = 128, STATES = 48, LENGTH = 512 };
#ifdef AFTER
typedef unsigned short Entry;
#else
typedef unsigned Entry;
#endif

// Runs an automaton over strings, one a thread; the strings' n-th letters lie side by side, four to a word.
__global__ void automaton(const unsigned *text, const unsigned char *moves, unsigned char *ends, int n) {
    __shared__ Entry table[STATES * 256];
    for (int i = threadIdx.x; i < STATES * 256; i += BLOCK)
        table[i] = moves[i];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x, state = 0;
    for (int k = 0; k < LENGTH / 4; k++) {
        unsigned letters = text[(size_t)k * n + i];
#pragma unroll
        for (int b = 0; b < 4; b++)
            state = table[state * 256 + (letters >> 8 * b & 255)];
    }
    ends[i] = (unsigned char)state;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "automaton");
    int n = p.small ? 1 << 14 : 1 << 18;
    std::vector<unsigned> text((size_t)n * (LENGTH / 4));
    std::vector<unsigned char> moves(STATES * 256);
    unsigned seed = 1;
    for (unsigned &w : text)
        w = lcg_next(&seed, 1 << 24) * 2654435761u;
    lcg_fill(moves.data(), moves.size(), 2, STATES);
    unsigned *d_text = device_copy_of(text.data(), text.size());
    unsigned char *d_moves = device_copy_of(moves.data(), moves.size()), *d_ends = device_array<unsigned char>(n);
    pair_time(&p, [&] { automaton<<<n / BLOCK, BLOCK>>>(d_text, d_moves, d_ends, n); });
    std::vector<unsigned char> ends = host_copy_of(d_ends, n);
    for (int i = 0; i < n; i += 199) {
        int state = 0;
        for (int k = 0; k < LENGTH; k++)
            state = moves[state * 256 + (text[(size_t)(k / 4) * n + i] >> 8 * (k % 4) & 255)];
        pair_near(&p, "end", i, state, ends[i], 0);
    }
    return pair_end(&p);
}
