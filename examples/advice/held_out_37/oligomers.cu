// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the rows of the triangle of pairs are dealt out to the CTAs in turn, not in runs of neighbouring rows.
// Why: row i has i + 1 pairs and there is one CTA for each SM, so with runs of rows the SM with the last run worked
// twice as long as the average and the first ones were idle nearly all the time.
#include "../common.h"

// Checks a pool of PCR primers for dimers: for every primer, the worst partner among itself and those before it. Two
// primers are laid side by side in opposite directions at every offset; an offset's score is three for each G-C pair
// and two for each A-T pair, and a primer's is the best one of all offsets, partners in its upper bits.

constexpr int LENGTH = 24;   // bases of a primer, two bits each
constexpr int LEAST = 4;     // bases that overlap at the outermost offset
constexpr int THREADS = 1024;
typedef unsigned long long Bases;

// A=0 C=1 G=2 T=3: two bases pair if one is the complement of the other, 3 - b.
__host__ __device__ inline int pair_score(Bases paired_bits, Bases one, int overlap) {
    const Bases low = 0x555555555555ull;
    Bases valid = low & ((1ull << (2 * overlap)) - 1);
    Bases pairs = paired_bits & (paired_bits >> 1) & valid;  // both bits differ
    Bases strong = (one ^ (one >> 1)) & pairs;               // C and G have two different bits
#ifdef __CUDA_ARCH__
    return 2 * __popcll(pairs) + __popcll(strong);
#else
    return 2 * __builtin_popcountll(pairs) + __builtin_popcountll(strong);
#endif
}

__host__ __device__ inline int dimer_score(Bases forward, Bases backward) {
    int best = 0;
    for (int shift = 0; shift <= LENGTH - LEAST; shift++) {
        Bases left = forward >> (2 * shift);
        Bases right = backward >> (2 * shift);
        int here = pair_score(left ^ backward, left, LENGTH - shift);
        int there = pair_score(forward ^ right, right, LENGTH - shift);
        best = here > best ? here : best;
        best = there > best ? there : best;
    }
    return best;
}

__global__ void __launch_bounds__(THREADS)
worst_partners(const Bases *__restrict__ primers, const Bases *__restrict__ reversed, int count,
               int *__restrict__ worst) {
    __shared__ int of_warp[THREADS / 32];
#ifdef AFTER
    int first = blockIdx.x, last = count, stride = gridDim.x;
#else
    int run = (count + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * run, last = min(first + run, count), stride = 1;
#endif
    for (int row = first; row < last; row += stride) {
        Bases mine = primers[row];
        int best = 0;
        for (int j = threadIdx.x; j <= row; j += THREADS)
            best = max(best, dimer_score(mine, reversed[j]) << 16 | j);
        best = __reduce_max_sync(0xffffffffu, best);
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32] = best;
        __syncthreads();
        if (threadIdx.x < 32) {
            best = __reduce_max_sync(0xffffffffu, of_warp[threadIdx.x]);
            if (threadIdx.x == 0)
                worst[row] = best;
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "oligomers");
    const int count = p.small ? 90 : 8000;
    int sms = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int blocks = p.small ? 4 : sms;

    std::vector<Bases> primers(count), reversed(count);
    unsigned seed = 8;
    for (int i = 0; i < count; i++) {
        Bases forward = 0, backward = 0;
        for (int k = 0; k < LENGTH; k++) {
            Bases base = lcg_next(&seed, 4);
            forward |= base << (2 * k);
            backward |= base << (2 * (LENGTH - 1 - k));
        }
        primers[i] = forward;
        reversed[i] = backward;
    }

    Bases *d_primers = device_copy_of(primers.data(), count);
    Bases *d_reversed = device_copy_of(reversed.data(), count);
    int *d_worst = device_array<int>(count);
    pair_time(&p, [&] { worst_partners<<<blocks, THREADS>>>(d_primers, d_reversed, count, d_worst); });

    std::vector<int> worst = host_copy_of(d_worst, count);
    for (int row = 0; row < count; row += p.small ? 1 : 193) {
        int best = 0;
        for (int j = 0; j <= row; j++)
            best = std::max(best, dimer_score(primers[row], reversed[j]) << 16 | j);
        pair_near(&p, "score", row, best >> 16, worst[row] >> 16, 0);
        pair_near(&p, "partner", row, best & 0xffff, worst[row] & 0xffff, 0);
    }
    CUDA_CHECK(cudaFree(d_primers));
    CUDA_CHECK(cudaFree(d_reversed));
    CUDA_CHECK(cudaFree(d_worst));
    return pair_end(&p);
}
