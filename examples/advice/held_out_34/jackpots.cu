// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the divisions by the lengths of the reels become a multiplication and a shift that the host prepares.
// Why: a GPU has no instruction that divides integers; each of the five divisions of a combination is a dozen or more.
#include "../common.h"

enum { BLOCK = 256, PER_THREAD = 8, REELS = 6, STOPS = 64, SYMBOLS = 9, SCATTER = 0 };

// The length of a reel, to divide numbers from 0 to 2^31 - 1 by.
struct Length {
    int stops;
#ifdef AFTER
    unsigned multiplier;
    int shift;
#endif
    __device__ int turns(int n) const {
#ifdef AFTER
        return (int)((__umulhi(n, multiplier) + n) >> shift);
#else
        return n / stops;
#endif
    }
};

static Length length_of(int stops) {
    Length l;
    l.stops = stops;
#ifdef AFTER
    for (l.shift = 0; 1 << l.shift < stops; l.shift++) {}
    l.multiplier = (unsigned)(((1ull << 32) * ((1ull << l.shift) - stops)) / stops + 1);
#endif
    return l;
}

struct Machine {
    Length length[REELS];
    unsigned char symbol[REELS][STOPS];
    unsigned short line_pay[SYMBOLS][REELS + 1];  // of so many equal symbols from the left
    unsigned short scatter_pay[REELS + 1];        // of so many scatter symbols anywhere
    int combinations;                             // the product of the lengths
};

struct Totals {
    unsigned line, scatter, wins;  // coins paid for lines and for scatters, and combinations that pay for a line
};

// The exact return of a slot machine, as the licensing authority wants it: every combination of the stops of the reels
// is played once. One Totals for each CTA.
__global__ void jackpots(const Machine *__restrict__ machine, Totals *__restrict__ totals) {
    __shared__ Machine m;
    __shared__ unsigned sums[3];
    const int words = sizeof(Machine) / sizeof(unsigned);
    for (int w = threadIdx.x; w < words; w += BLOCK)
        ((unsigned *)&m)[w] = ((const unsigned *)machine)[w];
    if (threadIdx.x < 3)
        sums[threadIdx.x] = 0;
    __syncthreads();

    unsigned line = 0, scatter = 0, wins = 0;
    for (int turn = 0; turn < PER_THREAD; turn++) {
        int rest = (blockIdx.x * PER_THREAD + turn) * BLOCK + threadIdx.x;
        if (rest >= m.combinations)
            break;
        int first = 0, run = 0, scatters = 0;
        bool running = true;
        for (int r = 0; r < REELS; r++) {
            int stop = rest;
            if (r + 1 < REELS) {
                const int turns = m.length[r].turns(rest);
                stop = rest - turns * m.length[r].stops;
                rest = turns;
            }
            const int symbol = m.symbol[r][stop];
            if (r == 0)
                first = symbol;
            running = running && symbol == first;
            run += running;
            scatters += symbol == SCATTER;
        }
        line += m.line_pay[first][run];
        scatter += m.scatter_pay[scatters];
        wins += m.line_pay[first][run] > 0;
    }

    line = __reduce_add_sync(~0u, line);
    scatter = __reduce_add_sync(~0u, scatter);
    wins = __reduce_add_sync(~0u, wins);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], line);
        atomicAdd(&sums[1], scatter);
        atomicAdd(&sums[2], wins);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        totals[blockIdx.x] = {sums[0], sums[1], sums[2]};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jackpots");
    const int stops[2][REELS] = {{17, 22, 23, 21, 19, 14}, {4, 5, 5, 4, 4, 3}};

    Machine m = {};
    m.combinations = 1;
    unsigned seed = 777;
    double count[REELS][SYMBOLS] = {};  // how often a symbol is on a reel
    for (int r = 0; r < REELS; r++) {
        const int length = stops[p.small][r];
        m.length[r] = length_of(length);
        m.combinations *= length;
        for (int s = 0; s < length; s++) {
            // The symbols that pay best are rare.
            const unsigned a = lcg_next(&seed, SYMBOLS), b = lcg_next(&seed, SYMBOLS);
            m.symbol[r][s] = s == 2 ? (unsigned)SCATTER : std::max(1u, std::max(a, b));
            count[r][m.symbol[r][s]]++;
        }
    }
    for (int s = 1; s < SYMBOLS; s++)
        for (int run = 3; run <= REELS; run++)
            m.line_pay[s][run] = (run == 3 ? 5 : run == 4 ? 25 : run == 5 ? 120 : 600) * (SYMBOLS + 1 - s);
    m.scatter_pay[3] = 10, m.scatter_pay[4] = 50, m.scatter_pay[5] = 2000, m.scatter_pay[6] = 20000;

    const int ctas = (m.combinations + BLOCK * PER_THREAD - 1) / (BLOCK * PER_THREAD);
    Machine *d_machine = device_copy_of(&m, 1);
    Totals *d_totals = device_array<Totals>(ctas);
    pair_time(&p, [&] { jackpots<<<ctas, BLOCK>>>(d_machine, d_totals); });

    double line = 0, scatter = 0, wins = 0;
    for (const Totals &t : host_copy_of(d_totals, ctas))
        line += t.line, scatter += t.scatter, wins += t.wins;

    // By combinatorics: for each symbol the ways to begin with exactly `run` of it; for scatters a polynomial.
    double expected_line = 0, expected_wins = 0, ways[REELS + 1] = {1}, expected_scatter = 0;
    for (int s = 0; s < SYMBOLS; s++)
        for (int run = 1; run <= REELS; run++) {
            double n = 1;
            for (int r = 0; r < REELS; r++) {
                const double length = stops[p.small][r];
                n *= r < run ? count[r][s] : r == run ? length - count[r][s] : length;
            }
            expected_line += n * m.line_pay[s][run];
            expected_wins += m.line_pay[s][run] ? n : 0;
        }
    for (int r = 0; r < REELS; r++)
        for (int k = REELS; k >= 0; k--)
            ways[k] = ways[k] * (stops[p.small][r] - count[r][SCATTER]) + (k ? ways[k - 1] * count[r][SCATTER] : 0);
    for (int k = 0; k <= REELS; k++)
        expected_scatter += ways[k] * m.scatter_pay[k];
    pair_near(&p, "line", 0, expected_line, line, 1e-12);
    pair_near(&p, "scatter", 0, expected_scatter, scatter, 1e-12);
    pair_near(&p, "wins", 0, expected_wins, wins, 1e-12);
    return pair_end(&p);
}
