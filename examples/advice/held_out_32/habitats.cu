// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counters that every thread has in shared memory are bytes instead of ints.
// Why: 128 ints a thread leave room for 12 warps on an SM, too few to hide the latency of the maps; 128 bytes leave
// room for some 50.
#include "../common.h"

enum { BLOCK = 64, CLASSES = 128, DATES_MAX = 255 };

#ifdef AFTER
typedef unsigned char Count;  // no more than DATES_MAX
#else
typedef int Count;
#endif

// Where the counter of a class is: every thread keeps to its own bank.
static __device__ int slot(int land) {
    const int per_word = sizeof(int) / sizeof(Count);
    return (land / per_word * BLOCK + threadIdx.x) * per_word + land % per_word;
}

struct Summary {
    unsigned char *usual;  // the class most often seen in the cell, the lowest one of equals
    unsigned char *share;  // how often, of all dates
    float *diversity;      // Simpson's: the chance that two dates differ
};

// Every cell of a landscape, classified on many dates: what it usually is, and how much it changes.
__global__ void habitats(const unsigned char *__restrict__ maps, Summary out, int cells, int dates) {
    __shared__ Count counts[CLASSES * BLOCK];
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= cells)
        return;
    for (int c = 0; c < CLASSES; c++)
        counts[slot(c)] = 0;
    for (int d = 0; d < dates; d++)
        counts[slot(maps[(size_t)d * cells + cell] & (CLASSES - 1))]++;
    int best = 0, most = -1, pairs = 0;
    for (int c = 0; c < CLASSES; c++) {
        int n = counts[slot(c)];
        pairs += n * (n - 1);
        if (n > most) {
            most = n;
            best = c;
        }
    }
    out.usual[cell] = (unsigned char)best;
    out.share[cell] = (unsigned char)most;
    out.diversity[cell] = 1.0f - pairs / (float)(dates * (dates - 1));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "habitats");
    int cells = p.small ? 132 * 2 * BLOCK * 2 : 132 * 48 * BLOCK, dates = p.small ? 60 : 240;
    std::vector<unsigned char> maps((size_t)dates * cells), usual_true(cells);
    unsigned seed = 1;
    for (unsigned char &u : usual_true)
        u = (unsigned char)lcg_next(&seed, CLASSES);
    for (int d = 0; d < dates; d++)
        for (int i = 0; i < cells; i++) {
            // A third of the dates show the true class, a third its neighbours in the key, a third anything.
            unsigned draw = lcg_next(&seed, 3 * CLASSES), kind = draw % 3, any = draw / 3;
            unsigned land = kind == 0 ? usual_true[i] : kind == 1 ? usual_true[i] + any % 5 : any;
            maps[(size_t)d * cells + i] = (unsigned char)(land % CLASSES);
        }
    unsigned char *d_maps = device_copy_of(maps.data(), maps.size());
    Summary out = {device_array<unsigned char>(cells), device_array<unsigned char>(cells), device_array<float>(cells)};
    pair_time(&p, [&] { habitats<<<(cells + BLOCK - 1) / BLOCK, BLOCK>>>(d_maps, out, cells, dates); });
    std::vector<unsigned char> usual = host_copy_of(out.usual, cells), share = host_copy_of(out.share, cells);
    std::vector<float> diversity = host_copy_of(out.diversity, cells);
    for (int i = 0; i < cells; i += 61) {
        int counts[CLASSES] = {0}, best = 0;
        double pairs = 0;
        for (int d = 0; d < dates; d++)
            counts[maps[(size_t)d * cells + i]]++;
        for (int c = 0; c < CLASSES; c++) {
            pairs += (double)counts[c] * (counts[c] - 1);
            if (counts[c] > counts[best])
                best = c;
        }
        pair_near(&p, "usual", i, best, usual[i], 0);
        pair_near(&p, "share", i, counts[best], share[i], 0);
        pair_near(&p, "diversity", i, 1 - pairs / ((double)dates * (dates - 1)), diversity[i], 1e-5);
    }
    return pair_end(&p);
}
