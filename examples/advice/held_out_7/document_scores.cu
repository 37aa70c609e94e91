// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the documents are dealt to the CTAs in turn instead of in runs of neighbours.
// Why: they are sorted by their length, so that the first CTAs have the longest.
#include "../common.h"

enum { BLOCK = 256, EACH = 16, VOCABULARY = 8192 };

// The sum of the weights of a document's words; 16 documents for each CTA.
__global__ void document_scores(const int *first, const unsigned short *words, const float *weight, float *score) {
    __shared__ float partial[EACH][BLOCK / 32];
    for (int k = 0; k < EACH; k++) {
#ifdef AFTER
        int document = k * gridDim.x + blockIdx.x;
#else
        int document = blockIdx.x * EACH + k;
#endif
        int end = first[document + 1];
        float sum = 0;
        for (int i = first[document] + threadIdx.x; i < end; i += BLOCK)
            sum += weight[words[i]];
        for (int d = 16; d; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x % 32 == 0)
            partial[k][threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < EACH) {
        float sum = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            sum += partial[threadIdx.x][w];
#ifdef AFTER
        score[threadIdx.x * gridDim.x + blockIdx.x] = sum;
#else
        score[blockIdx.x * EACH + threadIdx.x] = sum;
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "document_scores");
    int blocks = p.small ? 264 : 132 * 16, documents = blocks * EACH;
    std::vector<int> first(documents + 1);
    for (int d = 0; d < documents; d++)  // few are long, most are short
        first[d + 1] = first[d] + 64 + (p.small ? 2000 : 8000) / (1 + 100 * d / documents);
    std::vector<unsigned short> words(first[documents]);
    lcg_fill(words.data(), words.size(), 1, VOCABULARY);
    std::vector<float> weight = random_floats(VOCABULARY, 0, 1, 2);
    int *d_first = device_copy_of(first.data(), first.size());
    unsigned short *d_words = device_copy_of(words.data(), words.size());
    float *d_weight = device_copy_of(weight.data(), VOCABULARY), *d_score = device_array<float>(documents);
    pair_time(&p, [&] { document_scores<<<blocks, BLOCK>>>(d_first, d_words, d_weight, d_score); });
    std::vector<float> score = host_copy_of(d_score, documents);
    for (int d = 0; d < documents; d += 11) {
        double sum = 0;
        for (int i = first[d]; i < first[d + 1]; i++)
            sum += weight[words[i]];
        pair_near(&p, "score", d, sum, score[d], 1e-4);
    }
    return pair_end(&p);
}
