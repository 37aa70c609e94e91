// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the shingles is unrolled eight times.
// Why: each turn loads one shingle and hashes it before the next one is asked for.
#include "../common.h"

enum { BLOCK = 128, HASHES = 64, SHINGLES = 192 };

static __host__ __device__ inline unsigned hash_of(unsigned shingle, unsigned key) {
    unsigned h = shingle * key + (key >> 7);
    h ^= h >> 15;
    return h * 0x85ebca6bu;
}

// Signatures of documents: for each hash function the least hash of any shingle.
__global__ void minhash(const unsigned *shingles, const unsigned *keys, unsigned *out) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, key = keys[i % HASHES], least = ~0u;
    const unsigned *own = shingles + (size_t)(i / HASHES) * SHINGLES;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int s = 0; s < SHINGLES; s++)
        least = min(least, hash_of(own[s], key));
    out[i] = least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "minhash");
    int documents = p.small ? 128 : 1 << 14, n = documents * HASHES;
    std::vector<unsigned> shingles((size_t)documents * SHINGLES), keys(HASHES);
    unsigned seed = 1;
    for (unsigned &s : shingles)
        s = (unsigned)lcg_next(&seed, 1 << 30);
    for (unsigned &k : keys)
        k = (unsigned)lcg_next(&seed, 1 << 30) | 1;
    unsigned *d_shingles = device_copy_of(shingles.data(), shingles.size()),
             *d_keys = device_copy_of(keys.data(), HASHES), *d_out = device_array<unsigned>(n);
    pair_time(&p, [&] { minhash<<<n / BLOCK, BLOCK>>>(d_shingles, d_keys, d_out); });
    std::vector<unsigned> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 331) {
        unsigned least = ~0u;
        for (int s = 0; s < SHINGLES; s++)
            least = std::min(least, hash_of(shingles[(size_t)(i / HASHES) * SHINGLES + s], keys[i % HASHES]));
        pair_near(&p, "hash", i, least, out[i], 0);
    }
    return pair_end(&p);
}
