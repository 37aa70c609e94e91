// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counts in shared memory are of 16 bits instead of 32.
// Why: 32 KB a block let seven blocks of four warps be on an SM, too few to hide the look-ups of the books.
#include "../common.h"

enum { BLOCK = 128, GENRES = 64 };

#ifdef AFTER
typedef unsigned short Count;
#else
typedef unsigned Count;
#endif

// For each reader of a library: how many-sided the loans are (entropy of their genres), and the favourite genre.
__global__ void tastes(const int *loans, const int *lent, const unsigned char *genre_of, float *entropies,
                       int *favourites, int readers) {
    __shared__ Count counts[GENRES][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, own = lent[i], most = 0, favourite = 0;
    for (int g = 0; g < GENRES; g++)
        counts[g][threadIdx.x] = 0;
    for (int l = 0; l < own; l++) {
        int book = loans[l * readers + i];
        if (book < 0)  // the title is not known any more
            continue;
        counts[genre_of[book]][threadIdx.x]++;
    }
    float sum = 0, known = 0;
    for (int g = 0; g < GENRES; g++) {
        int count = counts[g][threadIdx.x];
        if (count == 0)
            continue;
        sum += (float)count * __log2f((float)count);
        known += (float)count;
        if (count > most) {
            most = count;
            favourite = g;
        }
    }
    entropies[i] = known > 0.0f ? __log2f(known) - sum / known : 0.0f;
    favourites[i] = favourite;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "library_loans");
    int readers = p.small ? 512 : 1 << 18, most = p.small ? 24 : 96, books = p.small ? 1 << 14 : 1 << 22;
    std::vector<int> loans((size_t)readers * most), lent(readers);
    std::vector<unsigned char> genres(books);
    lcg_fill(loans.data(), loans.size(), 1, books);
    lcg_fill(lent.data(), readers, 2, most / 2);
    lcg_fill(genres.data(), books, 3, GENRES);
    for (int &l : lent)
        l += most / 2;
    for (size_t i = 0; i < loans.size(); i += 19)
        loans[i] = -1;
    int *d_loans = device_copy_of(loans.data(), loans.size()), *d_lent = device_copy_of(lent.data(), readers),
        *d_favourites = device_array<int>(readers);
    unsigned char *d_genres = device_copy_of(genres.data(), books);
    float *d_entropies = device_array<float>(readers);
    pair_time(
        &p, [&] { tastes<<<readers / BLOCK, BLOCK>>>(d_loans, d_lent, d_genres, d_entropies, d_favourites, readers); });
    std::vector<float> entropies = host_copy_of(d_entropies, readers);
    std::vector<int> favourites = host_copy_of(d_favourites, readers);
    for (int i = 0; i < readers; i += 17) {
        int counts[GENRES] = {0}, known = 0;
        for (int l = 0; l < lent[i]; l++) {
            int book = loans[(size_t)l * readers + i];
            if (book >= 0) {
                counts[genres[book]]++;
                known++;
            }
        }
        double sum = 0;
        for (int g = 0; g < GENRES; g++)
            if (counts[g])
                sum += counts[g] * log2((double)counts[g]);
        pair_near(&p, "entropy", i, known ? log2((double)known) - sum / known : 0, entropies[i], 1e-4);
        pair_near(&p, "favourite", i, std::max_element(counts, counts + GENRES) - counts, favourites[i], 0);
    }
    return pair_end(&p);
}
