// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the number of peaks of an isotope pattern is a compile-time constant and the loop over them is unrolled.
// Why: the loop is short, so its counter, test and jump cost as much as its arithmetic, and rolled up it lets only
// the loads of one peak be under way at a time.
#include "../common.h"

// Searches a mass spectrum for isotope envelopes of peptides: at every bin, for every charge, the cosine between the
// theoretical pattern at that mass and the intensities one isotope spacing apart. Keeps the best charge and its score.

constexpr int PEAKS = 6;
constexpr int CHARGES = 5;
constexpr int THREADS = 256;
constexpr float BIN_WIDTH = 0.01f;        // Thomson
constexpr float SPACING = 1.00235f;       // Dalton between two isotope peaks of a peptide
constexpr float FIRST_MZ = 300.0f;        // of bin 0
constexpr float PROTON = 1.00728f;
constexpr int MARGIN = 640;               // bins after the last one searched

struct Search {
    int bins;
    int peaks;
    int charges;
    float noise;
};

// Poisson's approximation of the averagine pattern: the share of peak k + 1 over that of peak k is mean / (k + 1).
__host__ __device__ inline float pattern_mean(float mass) { return 0.000594f * mass + 0.03091f; }

__global__ void __launch_bounds__(THREADS)
match_envelopes(const float *__restrict__ spectrum, const float *__restrict__ inverse, Search search,
                float *__restrict__ best_score, int *__restrict__ best_charge) {
    int bin = blockIdx.x * THREADS + threadIdx.x;
    if (bin >= search.bins)
        return;
    float mz = FIRST_MZ + bin * BIN_WIDTH;
    float best = 0.0f;
    int charge_of_best = 0;
#pragma unroll 1
    for (int charge = 1; charge <= search.charges; charge++) {
        float mean = pattern_mean((mz - PROTON) * charge);
        float step = SPACING / (BIN_WIDTH * charge);
        float dot = 0.0f, seen = 0.0f, expected = 0.0f;
        float share = 1.0f;
        float at = bin;
#ifdef AFTER
#pragma unroll
        for (int k = 0; k < PEAKS; k++) {
#else
#pragma unroll 1
        for (int k = 0; k < search.peaks; k++) {
#endif
            int left = (int)at;
            float part = at - left;
            float height = spectrum[left] + part * (spectrum[left + 1] - spectrum[left]);
            height = fmaxf(height - search.noise, 0.0f);
            dot += share * height;
            seen += height * height;
            expected += share * share;
            share *= mean * inverse[k];
            at += step;
        }
        float score = dot * rsqrtf(seen * expected + 1e-6f);
        if (score > best) {
            best = score;
            charge_of_best = charge;
        }
    }
    best_score[bin] = best;
    best_charge[bin] = charge_of_best;
}

static float score_at(const std::vector<float> &spectrum, const Search &search, int bin, int charge) {
    float mz = FIRST_MZ + bin * BIN_WIDTH;
    float mean = pattern_mean((mz - PROTON) * charge);
    float step = SPACING / (BIN_WIDTH * charge);
    double dot = 0, seen = 0, expected = 0, share = 1;
    float at = bin;
    for (int k = 0; k < search.peaks; k++) {
        int left = (int)at;
        float part = at - left;
        double height = spectrum[left] + part * (spectrum[left + 1] - spectrum[left]);
        height = std::max(height - search.noise, 0.0);
        dot += share * height;
        seen += height * height;
        expected += share * share;
        share *= mean / (k + 1);
        at += step;
    }
    return (float)(dot / sqrt(seen * expected + 1e-6));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "isotopes");
    Search search = {p.small ? 1000 : 6000000, PEAKS, CHARGES, 0.05f};
    size_t stored = (size_t)search.bins + MARGIN;
    std::vector<float> spectrum = random_floats(stored, 0.0f, 0.3f, 11);
    unsigned seed = 12;
    for (int i = 0; i < search.bins / 50; i++) {
        int charge = 1 + lcg_next(&seed, CHARGES), bin = lcg_next(&seed, search.bins);
        float height = 5.0f + lcg_next(&seed, 100);
        for (int k = 0; k < 4; k++)
            spectrum[bin + (int)(k * SPACING / (BIN_WIDTH * charge))] += height / (1 + k);
    }
    std::vector<float> inverse(PEAKS);
    for (int k = 0; k < PEAKS; k++)
        inverse[k] = 1.0f / (k + 1);

    float *d_spectrum = device_copy_of(spectrum.data(), stored);
    float *d_inverse = device_copy_of(inverse.data(), PEAKS);
    float *d_score = device_array<float>(search.bins);
    int *d_charge = device_array<int>(search.bins);
    int blocks = (search.bins + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        match_envelopes<<<blocks, THREADS>>>(d_spectrum, d_inverse, search, d_score, d_charge);
    });

    std::vector<float> score = host_copy_of(d_score, search.bins);
    std::vector<int> charge = host_copy_of(d_charge, search.bins);
    for (int bin = 0; bin < search.bins; bin += p.small ? 1 : 311) {
        float best = 0;
        for (int c = 1; c <= CHARGES; c++)
            best = std::max(best, score_at(spectrum, search, bin, c));
        pair_near(&p, "score", bin, best, score[bin], 2e-3);
        if (charge[bin] > 0)
            pair_near(&p, "charge's score", bin, score_at(spectrum, search, bin, charge[bin]), score[bin], 2e-3);
    }
    CUDA_CHECK(cudaFree(d_spectrum));
    CUDA_CHECK(cudaFree(d_inverse));
    CUDA_CHECK(cudaFree(d_score));
    CUDA_CHECK(cudaFree(d_charge));
    return pair_end(&p);
}
