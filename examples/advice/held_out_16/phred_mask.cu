// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes four neighbouring bases with one access of four bytes instead of one base.
// Why: a warp's access is then 128 bytes and not 32, and a fourth of the threads do the same work.
#include "../common.h"

enum { BLOCK = 256 };

// A base that the sequencer was not sure of becomes N; small letters (repeats) become large.
static __host__ __device__ unsigned char masked(unsigned char base, unsigned char quality, int threshold) {
    if (quality - 33 < threshold)
        return 'N';
    return base >= 'a' ? base - 32 : base;
}

#ifdef AFTER
enum { PER = 4 };

__global__ void mask_reads(const uchar4 *bases, const uchar4 *qualities, uchar4 *result, int threshold, size_t count) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    uchar4 base = bases[i], quality = qualities[i];
    result[i] = make_uchar4(masked(base.x, quality.x, threshold), masked(base.y, quality.y, threshold),
                            masked(base.z, quality.z, threshold), masked(base.w, quality.w, threshold));
}
typedef uchar4 Bases;
#else
enum { PER = 1 };

__global__ void mask_reads(const unsigned char *bases, const unsigned char *qualities, unsigned char *result,
                           int threshold, size_t count) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        result[i] = masked(bases[i], qualities[i], threshold);
}
typedef unsigned char Bases;
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "phred_mask");
    size_t n = p.small ? 60000 : 90000000, count = n / PER;
    std::vector<unsigned char> bases(n), qualities(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned random = lcg_next(&seed, 1 << 24);
        bases[i] = "ACGTacgt"[random % 8];
        qualities[i] = 33 + (random >> 10) % 42;
    }
    Bases *d_bases = (Bases *)device_copy_of(bases.data(), n),
          *d_qualities = (Bases *)device_copy_of(qualities.data(), n), *d_result = device_array<Bases>(count);
    unsigned grid = (unsigned)((count + BLOCK - 1) / BLOCK);
    pair_time(&p, [&] { mask_reads<<<grid, BLOCK>>>(d_bases, d_qualities, d_result, 20, count); });
    std::vector<unsigned char> result = host_copy_of((const unsigned char *)d_result, n);
    for (size_t i = 0; i < n; i += 3)
        pair_near(&p, "base", i, masked(bases[i], qualities[i], 20), result[i], 0);
    return pair_end(&p);
}
