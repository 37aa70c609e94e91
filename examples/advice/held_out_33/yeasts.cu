// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the rows of the triangle of pairs are dealt out to the blocks in turn, instead of in runs of rows.
// Why: there is one block per SM, and the first rows have the most pairs: the SM with the first run has twice the
// average work, the one with the last run next to none.
#include "../common.h"

enum { BLOCKS = 132, BLOCK = 512, WORDS = 8, STRAINS = WORDS * 32, WARPS = BLOCK / 32 };

struct Marker {
    float frequency;  // of the variant among the strains
    float inverse;    // 1 / (its standard deviation)
};

static __device__ float block_sum(float value, float *partial) {
    for (int distance = 16; distance; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    __syncthreads();  // the sums of the row before have been read
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < WARPS ? partial[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int distance = WARPS / 2; distance; distance /= 2)
            value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// Squared correlation of two markers by the number of strains that have both.
static __device__ float squared_correlation(const Marker &a, const Marker &b, int both) {
    float r = (both * (1.0f / STRAINS) - a.frequency * b.frequency) * a.inverse * b.inverse;
    return r * r;
}

// Linkage score of each marker of a genome: the sum of its squared correlations with all markers after it. Bit s of
// variants[w * count + m] is set if strain 32 w + s has the variant m.
__global__ void linkage_scores(const unsigned *variants, const Marker *markers, float *scores, int count) {
    __shared__ float partial[WARPS];
    int rows = (count + gridDim.x - 1) / gridDim.x;
    for (int k = 0; k < rows; k++) {
#ifdef AFTER
        int row = k * gridDim.x + blockIdx.x;
#else
        int row = blockIdx.x * rows + k;
#endif
        if (row >= count)
            break;
        unsigned mine[WORDS];
        for (int w = 0; w < WORDS; w++)
            mine[w] = variants[w * count + row];
        Marker marker = markers[row];
        float sum = 0;
        for (int other = row + 1 + threadIdx.x; other < count; other += BLOCK) {
            int both = 0;
            for (int w = 0; w < WORDS; w++)
                both += __popc(mine[w] & variants[w * count + other]);
            sum += squared_correlation(marker, markers[other], both);
        }
        sum = block_sum(sum, partial);
        if (threadIdx.x == 0)
            scores[row] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "yeasts");
    int count = p.small ? 132 * 9 - 7 : 132 * 36 - 31;
    std::vector<unsigned> variants((size_t)WORDS * count);
    std::vector<Marker> markers(count);
    unsigned seed = 31;
    for (int m = 0; m < count; m++) {
        int carriers = 0;
        bool linked = m > 0 && lcg_next(&seed, 4);  // much like the marker before
        for (int w = 0; w < WORDS; w++) {
            unsigned random = lcg_next(&seed, 1 << 16) | lcg_next(&seed, 1 << 16) << 16;
            unsigned rare = random & (lcg_next(&seed, 1 << 16) | lcg_next(&seed, 1 << 16) << 16);
            variants[w * count + m] = linked ? variants[w * count + m - 1] ^ (1u << (random & 31)) : rare;
            for (unsigned bits = variants[w * count + m]; bits; bits &= bits - 1)
                carriers++;
        }
        double frequency = std::min(std::max(carriers, 1), STRAINS - 1) / (double)STRAINS;
        markers[m] = {(float)frequency, (float)(1 / sqrt(frequency * (1 - frequency)))};
    }
    unsigned *d_variants = device_copy_of(variants.data(), variants.size());
    Marker *d_markers = device_copy_of(markers.data(), count);
    float *d_scores = device_array<float>(count);
    pair_time(&p, [&] { linkage_scores<<<BLOCKS, BLOCK>>>(d_variants, d_markers, d_scores, count); });
    std::vector<float> scores = host_copy_of(d_scores, count);
    for (int row = 0; row < count; row += count / 97) {
        double sum = 0;
        for (int other = row + 1; other < count; other++) {
            int both = 0;
            for (int w = 0; w < WORDS; w++)
                for (unsigned bits = variants[w * count + row] & variants[w * count + other]; bits; bits &= bits - 1)
                    both++;
            double r = (both / (double)STRAINS - (double)markers[row].frequency * markers[other].frequency) *
                       markers[row].inverse * markers[other].inverse;
            sum += r * r;
        }
        pair_near(&p, "scores", row, sum, scores[row], 1e-3);
    }
    return pair_end(&p);
}
