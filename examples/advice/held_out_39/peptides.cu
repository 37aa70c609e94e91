// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a block asks for shared memory for the longest spectrum of this run, not for the longest one ever allowed.
// Why: 96 KB a block leave room for two blocks on an SM, eight warps, which is too few to hide the latency of a
//      binary search; the spectra of a run have a few hundred peaks.
#include "../common.h"

enum { CANDIDATES = 128, FRAGMENTS = 24, MOST_PEAKS = 12288 };

struct Score {
    float hits, intensity;
};

// The first peak at or above mass.
__host__ __device__ static inline int lower_bound(const float *mass_of, int peaks, float mass) {
    int low = 0, high = peaks;
    while (low < high) {
        int middle = (low + high) / 2;
        if (mass_of[middle] < mass)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Adds the intensity of the strongest peak within the tolerance: from mass * below to mass * above.
__host__ __device__ static inline void match(const float *mass_of, const float *height_of, int peaks, float mass,
                                             float below, float above, Score *score) {
    float strongest = 0, last = mass * above;
    int i = lower_bound(mass_of, peaks, mass * below);
    for (; i < peaks && mass_of[i] <= last; i++) strongest = fmaxf(strongest, height_of[i]);
    score->hits += strongest > 0;
    score->intensity += strongest;
}

// A spectrum a block, a candidate peptide a thread. The library is sorted by the mass of the whole peptide, so the
// candidates of a spectrum are CANDIDATES neighbours from first[spectrum] on. fragments: by fragment, then by peptide.
__global__ void search_library(const int *begin, const float *masses, const float *heights, const int *first,
                               const float *fragments, Score *scores, int peptides, int room, float below,
                               float above) {
    extern __shared__ float peaks_of_block[];
    float *mass_of = peaks_of_block, *height_of = peaks_of_block + room;
    int from = begin[blockIdx.x], peaks = begin[blockIdx.x + 1] - from;
    float total = 0;
    for (int i = threadIdx.x; i < peaks; i += CANDIDATES) {
        mass_of[i] = masses[from + i];
        height_of[i] = sqrtf(heights[from + i]);
        total += height_of[i];
    }
    float whole = 0;
    __shared__ float part[CANDIDATES / 32];
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = total;
    __syncthreads();
    for (int w = 0; w < CANDIDATES / 32; w++) whole += part[w];
    Score score = {0, 0};
    int peptide = first[blockIdx.x] + threadIdx.x;
    for (int f = 0; f < FRAGMENTS; f++) {
        float mass = fragments[(size_t)f * peptides + peptide];
        if (mass > 0)  // 0: the peptide has fewer fragments
            match(mass_of, height_of, peaks, mass, below, above, &score);
    }
    score.intensity /= whole;
    scores[(size_t)blockIdx.x * CANDIDATES + threadIdx.x] = score;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peptides");
    int spectra = p.small ? 32 : 16 * 1024, peptides = p.small ? 4096 : 256 * 1024, longest = 0;
    float below = 1 - 400e-6f, above = 1 + 400e-6f;
    unsigned seed = 18;
    std::vector<int> begin(1, 0), first;
    std::vector<float> masses;
    for (int s = 0; s < spectra; s++) {
        int peaks = 120 + (int)lcg_next(&seed, 400);
        float mass = 100;
        for (int i = 0; i < peaks; i++) {
            mass += 2.2f * (1 + lcg_next(&seed, 1000)) * 1.5f / peaks;
            masses.push_back(mass);
        }
        longest = std::max(longest, peaks);
        begin.push_back((int)masses.size());
        first.push_back((int)lcg_next(&seed, peptides - CANDIDATES));
    }
    std::vector<float> heights = random_floats(masses.size(), 1, 900, 19);
    std::vector<float> fragments = random_floats((size_t)FRAGMENTS * peptides, 110, 1500, 20);
    for (int i = 0; i < peptides; i += 5)
        for (int f = FRAGMENTS - 1 - i % 7; f < FRAGMENTS; f++) fragments[(size_t)f * peptides + i] = 0;
#ifdef AFTER
    int room = longest;
#else
    int room = MOST_PEAKS;
    if (longest > MOST_PEAKS) fail_now("spectra of at most %d peaks expected, got %d", MOST_PEAKS, longest);
#endif
    size_t bytes = (size_t)room * 2 * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(search_library, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    int *d_begin = device_copy_of(begin.data(), begin.size()), *d_first = device_copy_of(first.data(), spectra);
    float *d_masses = device_copy_of(masses.data(), masses.size()),
          *d_heights = device_copy_of(heights.data(), heights.size()),
          *d_fragments = device_copy_of(fragments.data(), fragments.size());
    Score *d_scores = device_array<Score>((size_t)spectra * CANDIDATES);
    pair_time(&p, [&] {
        search_library<<<spectra, CANDIDATES, bytes>>>(d_begin, d_masses, d_heights, d_first, d_fragments, d_scores,
                                                       peptides, room, below, above);
    });
    std::vector<Score> scores = host_copy_of(d_scores, (size_t)spectra * CANDIDATES);
    for (int s = 0; s < spectra; s += p.small ? 1 : 151) {
        int peaks = begin[s + 1] - begin[s];
        std::vector<float> roots(peaks);
        double whole = 0;
        for (int i = 0; i < peaks; i++) whole += roots[i] = sqrtf(heights[begin[s] + i]);
        for (int c = 0; c < CANDIDATES; c++) {
            Score score = {0, 0};
            for (int f = 0; f < FRAGMENTS; f++) {
                float mass = fragments[(size_t)f * peptides + first[s] + c];
                if (mass > 0) match(&masses[begin[s]], roots.data(), peaks, mass, below, above, &score);
            }
            size_t at = (size_t)s * CANDIDATES + c;
            pair_near(&p, "hits", at, score.hits, scores[at].hits, 0);
            pair_near(&p, "intensity", at, score.intensity / whole, scores[at].intensity, 1e-4);
        }
    }
    return pair_end(&p);
}
