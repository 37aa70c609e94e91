// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Also: global-coalescing
// Change: key, species and count of a slot of the hash table lie side by side in one record, not in three arrays.
// Why: a look-up goes to a slot that nobody near it wants, so from each of three arrays it gets a whole sector for a
// few
//      bytes; the record of 16 bytes comes in one sector.
#include "../common.h"

enum { BLOCK = 256, SEEN_OFTEN = 3 };

typedef unsigned long long Kmer;  // 31 bases of 2 bits; never 0

#ifdef AFTER
struct __align__(16) Slot {
    Kmer key;
    unsigned species, count;
};

struct Index {
    Slot *slots;
    unsigned mask;

    __host__ __device__ Kmer key(unsigned s) const { return slots[s].key; }
    __host__ __device__ unsigned species(unsigned s) const { return slots[s].species; }
    __host__ __device__ unsigned count(unsigned s) const { return slots[s].count; }
    void set(unsigned s, Kmer key, unsigned species, unsigned count) { slots[s] = {key, species, count}; }
    void allocate(unsigned size) {
        slots = host_array<Slot>(size);
        mask = size - 1;
    }
    Index to_device() const { return {device_copy_of(slots, mask + 1), mask}; }
};
#else
struct Index {
    Kmer *key_of;
    unsigned *species_of, *count_of;
    unsigned mask;

    __host__ __device__ Kmer key(unsigned s) const { return key_of[s]; }
    __host__ __device__ unsigned species(unsigned s) const { return species_of[s]; }
    __host__ __device__ unsigned count(unsigned s) const { return count_of[s]; }
    void set(unsigned s, Kmer key, unsigned species, unsigned count) {
        key_of[s] = key;
        species_of[s] = species;
        count_of[s] = count;
    }
    void allocate(unsigned size) {
        key_of = host_array<Kmer>(size);
        species_of = host_array<unsigned>(size);
        count_of = host_array<unsigned>(size);
        mask = size - 1;
    }
    Index to_device() const {
        return {device_copy_of(key_of, mask + 1), device_copy_of(species_of, mask + 1),
                device_copy_of(count_of, mask + 1), mask};
    }
};
#endif

__host__ __device__ static inline unsigned hash_of(Kmer k) {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    return (unsigned)(k >> 31);
}

// Slot of the k-mer, or the empty one where it would go.
__host__ __device__ static inline unsigned find(const Index &index, Kmer wanted) {
    unsigned s = hash_of(wanted) & index.mask;
    for (Kmer k = index.key(s); k != wanted && k != 0; k = index.key(s))
        s = (s + 1) & index.mask;
    return s;
}

// Which species does each k-mer of the sample speak for? Rare ones may be reading errors: the top bit says so.
__global__ void classify(Index index, const Kmer *__restrict__ sample, int kmers, unsigned *vote) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < kmers; i += gridDim.x * BLOCK) {
        unsigned s = find(index, sample[i]), result = 0;
        if (index.key(s) != 0)
            result = index.species(s) | (index.count(s) < SEEN_OFTEN ? 1u << 31 : 0);
        vote[i] = result;
    }
}

static Kmer make_kmer(unsigned *seed) {
    Kmer high = lcg_next(seed, 1 << 24), middle = lcg_next(seed, 1 << 24);
    return high << 38 | middle << 14 | lcg_next(seed, 1 << 13) << 1 | 1;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "microbes");
    unsigned size = p.small ? 1 << 13 : 1 << 24, known = size / 2, seed = 77;
    int kmers = p.small ? 6000 : 8000000;
    Index index;
    index.allocate(size);
    std::vector<Kmer> sample;
    for (unsigned i = 0; i < known; i++) {
        Kmer k = make_kmer(&seed);
        index.set(find(index, k), k, 1 + i / 1000, 1 + lcg_next(&seed, 9));
        if (sample.size() < kmers / 3 * 2u)
            sample.push_back(k);
    }
    while ((int)sample.size() < kmers)  // from species nobody has sequenced
        sample.push_back(make_kmer(&seed));
    for (int i = kmers - 1; i > 0; i--)
        std::swap(sample[i], sample[lcg_next(&seed, i + 1)]);
    Index d_index = index.to_device();
    Kmer *d_sample = device_copy_of(sample.data(), kmers);
    unsigned *d_vote = device_array<unsigned>(kmers);
    int blocks = std::min((kmers + BLOCK - 1) / BLOCK, 132 * 8 * 4);
    pair_time(&p, [&] { classify<<<blocks, BLOCK>>>(d_index, d_sample, kmers, d_vote); });
    std::vector<unsigned> vote = host_copy_of(d_vote, kmers);
    for (int i = 0; i < kmers; i += p.small ? 1 : 7) {
        unsigned s = find(index, sample[i]);
        unsigned species = index.key(s) ? index.species(s) : 0;
        pair_near(&p, "species", i, species, vote[i] & 0x7fffffff, 0);
        pair_near(&p, "rare", i, species && index.count(s) < SEEN_OFTEN, vote[i] >> 31, 0);
    }
    return pair_end(&p);
}
