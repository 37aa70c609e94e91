// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: in the record of a suitcase, the numbers stand together, before the texts.
// Why: between the texts, as on the form, each of the four numbers that are needed is in another sector of 32 bytes, of
// which nothing else is used; together they come in one.
#include "../common.h"

struct Suitcase {
#ifdef AFTER
    int grams, girth_mm, worth_cents, kind;
    char owner[28], address[28], colour[28], remarks[28];
#else
    int grams;
    char owner[28];
    int girth_mm;
    char address[28];
    int worth_cents;
    char colour[28];
    int kind;
    char remarks[28];
#endif
};
static_assert(sizeof(Suitcase) == 128, "a record is a cache line");

enum { ORDINARY, FRAGILE, SPORTS, MUSIC, KINDS };

struct Tariff {
    int free_grams, cents_per_kg, longest_mm, oversize_cents;
    int kind_cents[KINDS];
};
__constant__ Tariff tariff;

// What one more suitcase costs those who have free_grams left to carry for nothing.
static __host__ __device__ int charge(const Suitcase &s, const Tariff &t, int *free_grams) {
    int heavy = s.grams > *free_grams ? s.grams - *free_grams : 0;
    *free_grams -= s.grams - heavy;
    int cents = (heavy + 999) / 1000 * t.cents_per_kg + t.kind_cents[s.kind];
    if (s.girth_mm > t.longest_mm)
        cents += t.oversize_cents;
    return cents + s.worth_cents / 200;
}

// A thread per booking, which has some suitcases of those that were registered anywhere at any time.
__global__ void charge_bookings(const Suitcase *suitcases, const int *first, const int *which, int *cents,
                                int bookings) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bookings)
        return;
    int end = first[b + 1], begin = first[b], free_grams = tariff.free_grams, sum = 0;
    for (int i = begin; i < end; i++)
        sum += charge(suitcases[which[i]], tariff, &free_grams);
    cents[b] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "suitcases");
    int count = p.small ? 2000 : 1000000, bookings = p.small ? 900 : 500000, block = 256;
    std::vector<Suitcase> suitcases(count);
    unsigned seed = 3;
    for (Suitcase &s : suitcases) {
        s.grams = 2000 + lcg_next(&seed, 30000);
        s.girth_mm = 900 + lcg_next(&seed, 1100);
        s.worth_cents = lcg_next(&seed, 500000);
        s.kind = lcg_next(&seed, 1 << 10) % KINDS;
    }
    std::vector<int> first(1, 0), which;
    for (int b = 0; b < bookings; b++) {
        int of_booking = 1 + lcg_next(&seed, 1 << 12) % 5;
        for (int i = 0; i < of_booking; i++)
            which.push_back(lcg_next(&seed, count));
        first.push_back((int)which.size());
    }
    Tariff t = {23000, 850, 1580, 4500, {0, 1200, 2500, 3300}};
    CUDA_CHECK(cudaMemcpyToSymbol(tariff, &t, sizeof t));
    Suitcase *d_suitcases = device_copy_of(suitcases.data(), count);
    int *d_first = device_copy_of(first.data(), first.size()), *d_which = device_copy_of(which.data(), which.size()),
        *d_cents = device_array<int>(bookings);
    pair_time(&p, [&] {
        charge_bookings<<<(bookings + block - 1) / block, block>>>(d_suitcases, d_first, d_which, d_cents, bookings);
    });
    std::vector<int> cents = host_copy_of(d_cents, bookings);
    for (int b = 0; b < bookings; b += p.small ? 1 : 7) {
        int free_grams = t.free_grams, sum = 0;
        for (int i = first[b]; i < first[b + 1]; i++)
            sum += charge(suitcases[which[i]], t, &free_grams);
        pair_near(&p, "cents", b, sum, cents[b], 1e-9);
    }
    return pair_end(&p);
}
