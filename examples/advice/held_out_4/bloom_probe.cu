// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the filter's size being a power of two, a position is masked instead of divided by the size.
// Why: four 64-bit remainders by an argument for each key.
#include "../common.h"

enum { BLOCK = 256, HASHES = 4 };

static __host__ __device__ unsigned long long scramble(unsigned long long key) {
    key ^= key >> 31;
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
}

static __host__ __device__ unsigned long long position(unsigned long long hash, int k, unsigned long long bits) {
    unsigned long long step = hash + k * (hash >> 32 | 1);
#ifdef AFTER
    return step & (bits - 1);
#else
    return step % bits;
#endif
}

__global__ void bloom_probe(const unsigned long long *keys, const unsigned *filter, unsigned long long bits,
                            unsigned char *found, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long hash = scramble(keys[i]);
    bool all = true;
    for (int k = 0; k < HASHES; k++) {
        unsigned long long at = position(hash, k, bits);
        all &= filter[at >> 5] >> (at & 31) & 1;
    }
    found[i] = all;
}

// A Bloom filter ahead of a hash join: which keys of the large table can have a partner in the small one?
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bloom_probe");
    int n = p.small ? 1 << 17 : 1 << 23, members = 1 << 17;
    unsigned long long bits = 1 << 21;
    std::vector<unsigned long long> keys(n);
    std::vector<unsigned> filter(bits / 32);
    unsigned seed = 1;
    for (auto &key : keys)
        key = (unsigned long long)lcg_next(&seed, 1 << 24) << 24 | lcg_next(&seed, 1 << 24);
    for (int i = 0; i < members; i++)
        for (int k = 0; k < HASHES; k++) {
            unsigned long long at = position(scramble(keys[i]), k, bits);
            filter[at >> 5] |= 1u << (at & 31);
        }
    unsigned long long *d_keys = device_copy_of(keys.data(), n);
    unsigned *d_filter = device_copy_of(filter.data(), filter.size());
    unsigned char *d_found = device_array<unsigned char>(n);
    pair_time(&p, [&] { bloom_probe<<<n / BLOCK, BLOCK>>>(d_keys, d_filter, bits, d_found, n); });
    std::vector<unsigned char> found = host_copy_of(d_found, n);
    for (int i = 0; i < n; i += 61) {
        int all = 1;
        for (int k = 0; k < HASHES; k++) {
            unsigned long long at = position(scramble(keys[i]), k, bits);
            all &= filter[at >> 5] >> (at & 31) & 1;
        }
        pair_near(&p, "found", i, all, found[i], 0);
    }
    return pair_end(&p);
}
