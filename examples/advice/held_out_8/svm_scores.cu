// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the support vectors, which all threads share, are read from constant memory instead of global memory.
// Why: loads that fetch one word for a whole warp are most of what the L1 has to do.
#include "../common.h"

enum { BLOCK = 256, FEATURES = 8, VECTORS = 512, WORDS = FEATURES + 1 };

__constant__ float c_vectors[VECTORS * WORDS];

// The decision function of a support vector machine with a polynomial kernel; features of neighbouring samples lie
// beside each other, and a vector's weight behind its features.
__global__ void svm_scores(const float *samples, const float *vectors, float *scores, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x[FEATURES], sum = 0;
    for (int f = 0; f < FEATURES; f++)
        x[f] = samples[f * n + i];
    for (int v = 0; v < VECTORS; v++) {
#ifdef AFTER
        const float *s = c_vectors + v * WORDS;
#else
        const float *s = vectors + v * WORDS;
#endif
        float dot = 1;
        for (int f = 0; f < FEATURES; f++)
            dot += s[f] * x[f];
        sum += s[FEATURES] * dot * dot;
    }
    scores[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "svm_scores");
    int n = p.small ? 1 << 12 : 1 << 19;
    std::vector<float> samples = random_floats((size_t)FEATURES * n, -1, 1, 1), vectors = random_floats(VECTORS * WORDS, -1, 1, 2);
    float *d_samples = device_copy_of(samples.data(), samples.size()), *d_vectors = device_copy_of(vectors.data(), vectors.size()),
          *d_scores = device_array<float>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(c_vectors, vectors.data(), vectors.size() * sizeof(float)));
    pair_time(&p, [&] { svm_scores<<<n / BLOCK, BLOCK>>>(d_samples, d_vectors, d_scores, n); });
    std::vector<float> scores = host_copy_of(d_scores, n);
    for (int i = 0; i < n; i += 1009) {
        double sum = 0, size = 0;
        for (int v = 0; v < VECTORS; v++) {
            double dot = 1;
            for (int f = 0; f < FEATURES; f++)
                dot += (double)vectors[v * WORDS + f] * samples[(size_t)f * n + i];
            sum += vectors[v * WORDS + FEATURES] * dot * dot;
            size += fabs(vectors[v * WORDS + FEATURES] * dot * dot);
        }
        pair_near(&p, "score", i, sum / size, scores[i] / size, 1e-4);
    }
    return pair_end(&p);
}
