// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Also: tail-effect
// Change: a block draws its next batch of molecules from a counter when it is done with one, instead of having a fixed
//         run of batches.
// Why: a molecule is compared with all that follow it, so the first runs are the longest, and the multiprocessors with
//      the last ones have nothing to do for half of the time.
#include "../common.h"

enum { BLOCK = 512, WARP = 32, WORDS = 16, BATCH = 4 };

// Do two fingerprints with so many bits each, and so many in common, have a Tanimoto similarity of 0.35 or more?
__host__ __device__ static inline bool similar(int bits, int other_bits, int common) {
    return 100 * common >= 35 * (bits + other_bits - common);
}

// For BATCH molecules in a row: how many of those that come later are similar. Fingerprints are stored word by word.
__device__ static void screen_batch(int batch, const unsigned *__restrict__ fingerprints, const int *__restrict__ bits,
                                    int molecules, int *followers) {
    __shared__ unsigned mine[WORDS][BATCH];
    __shared__ int found[BATCH];
    int first = batch * BATCH;
    __syncthreads();
    if (threadIdx.x < WORDS * BATCH)
        mine[threadIdx.x / BATCH][threadIdx.x % BATCH] =
            fingerprints[threadIdx.x / BATCH * molecules + first + threadIdx.x % BATCH];
    if (threadIdx.x < BATCH)
        found[threadIdx.x] = 0;
    __syncthreads();
    int my_bits[BATCH], hits[BATCH] = {0};
    for (int m = 0; m < BATCH; m++)
        my_bits[m] = bits[first + m];
    for (int j = first + 1 + threadIdx.x; j < molecules; j += BLOCK) {
        int common[BATCH] = {0};
        for (int w = 0; w < WORDS; w++) {
            unsigned word = fingerprints[w * molecules + j];
            for (int m = 0; m < BATCH; m++)
                common[m] += __popc(word & mine[w][m]);
        }
        int other_bits = bits[j];
        for (int m = 0; m < BATCH; m++)
            hits[m] += j > first + m && similar(my_bits[m], other_bits, common[m]);
    }
    for (int m = 0; m < BATCH; m++) {
        int sum = __reduce_add_sync(0xffffffffu, hits[m]);
        if (threadIdx.x % WARP == 0)
            atomicAdd(&found[m], sum);
    }
    __syncthreads();
    if (threadIdx.x < BATCH)
        followers[first + threadIdx.x] = found[threadIdx.x];
}

// First step of clustering a library of drug-like molecules. The grid has one block for each multiprocessor.
__global__ void __launch_bounds__(BLOCK, 1)
    screen(const unsigned *__restrict__ fingerprints, const int *__restrict__ bits, int molecules, int *ticket,
           int *followers) {
    int batches = molecules / BATCH;
#ifdef AFTER
    __shared__ int drawn;
    for (;;) {
        if (threadIdx.x == 0)
            drawn = atomicAdd(ticket, 1);
        __syncthreads();
        int batch = drawn;
        if (batch >= batches)
            break;
        screen_batch(batch, fingerprints, bits, molecules, followers);
    }
#else
    int share = (batches + gridDim.x - 1) / gridDim.x, end = min((int)(blockIdx.x + 1) * share, batches);
    for (int batch = blockIdx.x * share; batch < end; batch++)
        screen_batch(batch, fingerprints, bits, molecules, followers);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "medicines");
    int molecules = p.small ? 640 : 12288, blocks = p.small ? 4 : 132;
    std::vector<unsigned> fingerprints((size_t)WORDS * molecules);
    std::vector<int> bits(molecules);
    unsigned seed = 99;
    for (int i = 0; i < molecules; i++) {
        unsigned family = lcg_next(&seed, 24);
        for (int w = 0; w < WORDS; w++) {
            unsigned kin = family * 977 + w, word = lcg_next(&kin, 1 << 16) | lcg_next(&kin, 1 << 16) << 16;
            word &= lcg_next(&seed, 1 << 16) | lcg_next(&seed, 1 << 16) << 16;
            word |= 1u << lcg_next(&seed, 32);
            fingerprints[(size_t)w * molecules + i] = word;
            bits[i] += __builtin_popcount(word);
        }
    }
    unsigned *d_fingerprints = device_copy_of(fingerprints.data(), fingerprints.size());
    int *d_bits = device_copy_of(bits.data(), molecules), *d_ticket = device_array<int>(1),
        *d_followers = device_array<int>(molecules);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_ticket, 0, sizeof(int)));
        screen<<<blocks, BLOCK>>>(d_fingerprints, d_bits, molecules, d_ticket, d_followers);
    });
    std::vector<int> followers = host_copy_of(d_followers, molecules);
    for (int i = 0; i < molecules; i += p.small ? 1 : 37) {
        int count = 0;
        for (int j = i + 1; j < molecules; j++) {
            int common = 0;
            for (int w = 0; w < WORDS; w++)
                common += __builtin_popcount(fingerprints[(size_t)w * molecules + i] &
                                             fingerprints[(size_t)w * molecules + j]);
            count += similar(bits[i], bits[j], common);
        }
        pair_near(&p, "followers", i, count, followers[i], 0);
    }
    return pair_end(&p);
}
