// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread sweeps over its protein with eight rows of the query at a time, not one; the cells between them
// stay in registers.
// Why: the row buffer is in global memory, and row by row every single cell is read from it and written back.
#include "../common.h"

#ifdef AFTER
enum { STRIP = 8 };
#else
enum { STRIP = 1 };
#endif

enum { QUERY = 64, RESIDUES = 20, BLOCK = 128, OPEN = 11, EXTEND = 1 };

// What the next row needs of this one: the best alignment that ends here, and the best that ends here in a gap.
struct __align__(4) Cell {
    short best, gap;
};

// Smith-Waterman with affine gaps: the score of a query against every protein of a databank, one thread each.
// `databank` holds residue j of protein i at [j * proteins + i], and `row` is laid out alike. `profile` holds for each
// residue of the query the score against every other residue, 32 to a row.
__global__ void lectins(const unsigned char *__restrict__ databank, const int *__restrict__ length,
                        const short *__restrict__ profile, Cell *__restrict__ row, int *__restrict__ score,
                        int proteins) {
    __shared__ int table[QUERY][32];
    for (int i = threadIdx.x; i < QUERY * 32; i += BLOCK)
        table[i / 32][i % 32] = profile[i];
    __syncthreads();
    const int protein = blockIdx.x * BLOCK + threadIdx.x;
    if (protein >= proteins)
        return;
    const int end = length[protein];
    int top = 0;
    for (int q = 0; q < QUERY; q += STRIP) {
        int left[STRIP], open[STRIP], corner = 0;  // of the column before
#pragma unroll
        for (int k = 0; k < STRIP; k++)
            left[k] = open[k] = 0;
        for (int j = 0; j < end; j++) {
            const size_t at = (size_t)j * proteins + protein;
            const int residue = databank[at];
            Cell above = {0, 0};
            if (q)
                above = row[at];
            int up = above.best, gap = above.gap, diagonal = corner;
            corner = up;
#pragma unroll
            for (int k = 0; k < STRIP; k++) {
                gap = max(gap - EXTEND, up - OPEN);
                open[k] = max(open[k] - EXTEND, left[k] - OPEN);
                int best = max(max(diagonal + table[q + k][residue], 0), max(gap, open[k]));
                diagonal = left[k];
                left[k] = up = best;
                top = max(top, best);
            }
            row[at] = {(short)up, (short)max(gap, 0)};
        }
    }
    score[protein] = top;
}

static int reference(const unsigned char *databank, size_t proteins, size_t protein, int length, const short *profile) {
    std::vector<int> best(length + 1, 0), gap(length + 1, -1000);
    int top = 0;
    for (int q = 0; q < QUERY; q++) {
        int diagonal = 0, open = -1000;
        for (int j = 1; j <= length; j++) {
            gap[j] = std::max(gap[j] - EXTEND, best[j] - OPEN);
            open = std::max(open - EXTEND, best[j - 1] - OPEN);
            int s = diagonal + profile[q * 32 + databank[(j - 1) * proteins + protein]];
            diagonal = best[j];
            best[j] = std::max(std::max(s, 0), std::max(gap[j], open));
            top = std::max(top, best[j]);
        }
    }
    return top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lectins");
    const int proteins = p.small ? 300 : 90000, longest = p.small ? 24 : 160;

    // Any symmetric matrix with a diagonal like BLOSUM's will do.
    unsigned seed = 20;
    std::vector<short> matrix(RESIDUES * RESIDUES), profile(QUERY * 32, 0);
    for (int a = 0; a < RESIDUES; a++)
        for (int b = 0; b <= a; b++)
            matrix[a * RESIDUES + b] = matrix[b * RESIDUES + a] =
                a == b ? 4 + (int)lcg_next(&seed, 6) : 1 - (int)lcg_next(&seed, 5);
    std::vector<unsigned char> query(QUERY), databank((size_t)longest * proteins);
    lcg_fill(query.data(), QUERY, 1, RESIDUES);
    for (int q = 0; q < QUERY; q++)
        std::copy_n(&matrix[query[q] * RESIDUES], RESIDUES, &profile[q * 32]);
    // The databank is sorted by length, as usual; every fifth protein has a stretch of the query's family in it.
    std::vector<int> length(proteins);
    for (int i = 0; i < proteins; i++) {
        length[i] = longest / 2 + (int)((long long)(longest - longest / 2) * i / proteins);
        bool related = i % 5 == 0;
        int shift = lcg_next(&seed, 20);
        for (int j = 0; j < length[i]; j++) {
            unsigned any = lcg_next(&seed, RESIDUES * 4);
            databank[(size_t)j * proteins + i] =
                related && any < RESIDUES * 3 && j + shift < QUERY ? query[j + shift] : any % RESIDUES;
        }
    }

    unsigned char *d_databank = device_copy_of(databank.data(), databank.size());
    int *d_length = device_copy_of(length.data(), proteins), *d_score = device_array<int>(proteins);
    short *d_profile = device_copy_of(profile.data(), profile.size());
    Cell *d_row = device_array<Cell>((size_t)longest * proteins);
    pair_time(&p, [&] {
        lectins<<<(proteins + BLOCK - 1) / BLOCK, BLOCK>>>(d_databank, d_length, d_profile, d_row, d_score, proteins);
    });

    std::vector<int> score = host_copy_of(d_score, proteins);
    for (int i = 0; i < proteins; i += p.small ? 7 : 211)
        pair_near(&p, "score", i, reference(databank.data(), proteins, i, length[i], profile.data()), score[i], 0);
    return pair_end(&p);
}
