// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: remainders by the widths and heights of motifs use a multiplier that the host computes once.
// Why: nine integer divisions by numbers known at run time only make most of the instructions of a stitch.
#include "../common.h"

enum { BLOCK = 256, MOTIFS = 4, MOTIF_CELLS = 32 * 32 };

struct Divisor {
    unsigned by, multiplier, shift;
};

struct Chart {
    Divisor columns, width[MOTIFS], height[MOTIFS];
    unsigned slant[MOTIFS];
};

static Divisor divisor_of(unsigned by) {
    unsigned shift = 0;
    while ((1u << shift) < by)
        shift++;
    return {by, (unsigned)((((1ull << shift) - by) << 32) / by + 1), shift};
}

// For x below 2^31.
static __device__ inline unsigned quotient(unsigned x, Divisor d) {
#ifdef AFTER
    return (__umulhi(x, d.multiplier) + x) >> d.shift;
#else
    return x / d.by;
#endif
}
static __device__ inline unsigned remainder_of(unsigned x, Divisor d) { return x - quotient(x, d) * d.by; }

// Yarn of each stitch of a jacquard: motifs lie one over the other, 0 is where one lets the next be seen.
__global__ void knitting(Chart chart, const unsigned char *motifs, unsigned char *yarns) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    unsigned row = quotient(i, chart.columns), column = i - row * chart.columns.by, yarn = 0;
#pragma unroll
    for (int k = 0; k < MOTIFS; k++) {
        unsigned u = remainder_of(column + chart.slant[k] * row, chart.width[k]);
        unsigned v = remainder_of(row, chart.height[k]);
        unsigned own = motifs[k * MOTIF_CELLS + v * 32 + u];
        yarn = yarn ? yarn : own;
    }
    yarns[i] = (unsigned char)yarn;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "knitting");
    int n = p.small ? 1 << 12 : 1 << 24;
    unsigned widths[MOTIFS] = {24, 17, 30, 9}, heights[MOTIFS] = {13, 28, 7, 31}, slants[MOTIFS] = {0, 1, 3, 2};
    unsigned columns = p.small ? 60 : 1500, seed = 1;
    Chart chart;
    chart.columns = divisor_of(columns);
    for (int k = 0; k < MOTIFS; k++) {
        chart.width[k] = divisor_of(widths[k]);
        chart.height[k] = divisor_of(heights[k]);
        chart.slant[k] = slants[k];
    }
    std::vector<unsigned char> motifs(MOTIFS * MOTIF_CELLS);
    for (unsigned char &cell : motifs)
        cell = (unsigned char)(lcg_next(&seed, 3) ? 0 : 1 + lcg_next(&seed, 7));
    unsigned char *d_motifs = device_copy_of(motifs.data(), motifs.size()), *d_yarns = device_array<unsigned char>(n);
    pair_time(&p, [&] { knitting<<<n / BLOCK, BLOCK>>>(chart, d_motifs, d_yarns); });
    std::vector<unsigned char> yarns = host_copy_of(d_yarns, n);
    for (int i = 0; i < n; i += 61) {
        unsigned row = (unsigned)i / columns, column = (unsigned)i % columns, yarn = 0;
        for (int k = 0; k < MOTIFS && !yarn; k++)
            yarn = motifs[k * MOTIF_CELLS + row % heights[k] * 32 + (column + slants[k] * row) % widths[k]];
        pair_near(&p, "yarn", i, yarn, yarns[i], 0);
    }
    return pair_end(&p);
}
