// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the number of buckets, a power of two, is given as its logarithm: remainders become masks, quotients shifts.
// Why: the compiler does not know the divisor, and a division of integers is a sequence of some twenty instructions.
#include "../common.h"

enum { BLOCK = 256, PROBES = 4 };

// Which bucket, and which tag in it, each key has under four hash functions (cuckoo hashing): the smallest tag wins.
__global__ void grid_hash(const unsigned *keys, unsigned *places, int n, unsigned buckets) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], best = 0, least = 0xffffffffu;
#ifdef AFTER
    unsigned mask = buckets - 1, shift = __popc(mask);
#endif
#pragma unroll
    for (unsigned probe = 0; probe < PROBES; probe++) {
        unsigned h = (key ^ key >> 15) * (0x85ebca6bu + 2 * probe);
        h ^= h >> 13;
#ifdef AFTER
        unsigned tag = h >> shift, bucket = h & mask;
#else
        unsigned tag = h / buckets, bucket = h % buckets;
#endif
        if (tag < least)
            least = tag, best = bucket;
    }
    places[i] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "grid_hash");
    int n = p.small ? 1 << 18 : 1 << 24;
    unsigned buckets = 1 << 14;
    std::vector<unsigned> keys(n);
    unsigned seed = 3;
    for (unsigned &k : keys)
        k = lcg_next(&seed, 1 << 20) * 4099u;
    unsigned *d_keys = device_copy_of(keys.data(), n), *d_places = device_array<unsigned>(n);
    pair_time(&p, [&] { grid_hash<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_keys, d_places, n, buckets); });
    std::vector<unsigned> places = host_copy_of(d_places, n);
    for (int i = 0; i < n; i += 11) {
        unsigned best = 0, least = 0xffffffffu;
        for (unsigned probe = 0; probe < PROBES; probe++) {
            unsigned h = (keys[i] ^ keys[i] >> 15) * (0x85ebca6bu + 2 * probe);
            h ^= h >> 13;
            if (h / buckets < least)
                least = h / buckets, best = h % buckets;
        }
        pair_near(&p, "place", i, best, places[i], 0);
    }
    return pair_end(&p);
}
