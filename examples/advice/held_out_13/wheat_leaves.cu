// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the weights of the classes are in constant memory.
// Why: all lanes load the same weight for each multiplication, so loads are as many as the arithmetic.
#include "../common.h"

enum { BLOCK = 128, BANDS = 16, CLASSES = 24 };

#ifdef AFTER
__constant__ float d_weights[CLASSES * (BANDS + 1)];
#define WEIGHTS_ARGUMENT
#else
#define WEIGHTS_ARGUMENT const float *d_weights,
#endif

// Finds the disease of wheat leaves from a hyperspectral image: the class whose linear score is highest.
__global__ void wheat_leaves(WEIGHTS_ARGUMENT const float *bands, unsigned char *disease, float *certainty,
                             int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x, best = 0;
    float values[BANDS], highest = -1e30f;
#pragma unroll
    for (int b = 0; b < BANDS; b++)
        values[b] = bands[(size_t)b * pixels + i];
#pragma unroll
    for (int c = 0; c < CLASSES; c++) {
        float score = d_weights[c * (BANDS + 1) + BANDS];
#pragma unroll
        for (int b = 0; b < BANDS; b++)
            score += d_weights[c * (BANDS + 1) + b] * values[b];
        if (score > highest) {
            highest = score;
            best = c;
        }
    }
    disease[i] = (unsigned char)best;
    certainty[i] = highest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wheat_leaves");
    int pixels = p.small ? 1 << 10 : 1 << 20;
    std::vector<float> bands = random_floats((size_t)pixels * BANDS, 0, 1, 1),
                       weights = random_floats(CLASSES * (BANDS + 1), -1, 1, 2);
    float *d_bands = device_copy_of(bands.data(), bands.size()), *d_certainty = device_array<float>(pixels);
    unsigned char *d_disease = device_array<unsigned char>(pixels);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(d_weights, weights.data(), sizeof d_weights));
    pair_time(&p, [&] { wheat_leaves<<<pixels / BLOCK, BLOCK>>>(d_bands, d_disease, d_certainty, pixels); });
#else
    float *d_weights = device_copy_of(weights.data(), weights.size());
    pair_time(&p, [&] { wheat_leaves<<<pixels / BLOCK, BLOCK>>>(d_weights, d_bands, d_disease, d_certainty, pixels); });
#endif
    std::vector<unsigned char> disease = host_copy_of(d_disease, pixels);
    std::vector<float> certainty = host_copy_of(d_certainty, pixels);
    for (int i = 0; i < pixels; i += 101) {
        double highest = -1e30, of_found = 0;
        for (int c = 0; c < CLASSES; c++) {
            const float *own = &weights[c * (BANDS + 1)];
            double score = own[BANDS];
            for (int b = 0; b < BANDS; b++)
                score += (double)own[b] * bands[(size_t)b * pixels + i];
            highest = std::max(highest, score);
            if (c == disease[i])
                of_found = score;
        }
        pair_near(&p, "certainty", i, highest, certainty[i], 1e-4);
        pair_near(&p, "disease", i, highest, of_found, 1e-4);
    }
    return pair_end(&p);
}
