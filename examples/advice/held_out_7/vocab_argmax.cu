// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 16 CTAs share a row of scores instead of one CTA having it all.
// Why: a batch of 32 rows are 32 CTAs, for 132 SMs.
#include "../common.h"

enum { BLOCK = 512, ROWS = 32 };
#ifdef AFTER
enum { SLICES = 16 };
#else
enum { SLICES = 1 };
#endif

// Numbers in the order of the scores; where scores are equal the first index is the larger one.
static __device__ unsigned long long key_of(unsigned bits, unsigned index) {
    unsigned ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
    return (unsigned long long)ordered << 32 | ~index;
}

// The most likely word of each row.
__global__ void vocab_argmax(const float *scores, unsigned long long *best, int words) {
    __shared__ unsigned long long warp_best[BLOCK / 32];
    const float *row = scores + (size_t)blockIdx.y * words;
    unsigned long long most = 0;
    for (int w = blockIdx.x * BLOCK + threadIdx.x; w < words; w += gridDim.x * BLOCK)
        most = max(most, key_of(__float_as_uint(row[w]), w));
    for (int d = 16; d; d /= 2)
        most = max(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0)
        warp_best[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < BLOCK / 32; i++)
            most = max(most, warp_best[i]);
        atomicMax(&best[blockIdx.y], most);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vocab_argmax");
    int words = p.small ? 1 << 13 : 1 << 18;
    std::vector<float> scores = random_floats((size_t)ROWS * words, -20, 20, 1);
    float *d_scores = device_copy_of(scores.data(), scores.size());
    unsigned long long *d_best = device_array<unsigned long long>(ROWS);
    CUDA_CHECK(cudaMemset(d_best, 0, ROWS * sizeof *d_best));
    pair_time(&p, [&] { vocab_argmax<<<dim3(SLICES, ROWS), BLOCK>>>(d_scores, d_best, words); });
    std::vector<unsigned long long> best = host_copy_of(d_best, ROWS);
    for (int r = 0; r < ROWS; r++) {
        const float *row = &scores[(size_t)r * words];
        pair_near(&p, "word", r, std::max_element(row, row + words) - row, ~(unsigned)best[r], 0);
    }
    return pair_end(&p);
}
