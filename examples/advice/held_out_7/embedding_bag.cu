// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: neighbouring threads take neighbouring numbers of one bag instead of one number of neighbouring bags.
// Why: the rows that neighbouring bags want lie anywhere, so that every lane loads a sector of its own.
#include "../common.h"

enum { BLOCK = 256, DIM = 64, PER_BAG = 20 };

// The sum of the rows of a table that each bag of words names.
__global__ void embedding_bag(const float *table, const int *words, float *out, int bags) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int bag = i / DIM, d = i % DIM;
#else
    int bag = i % bags, d = i / bags;
#endif
    float sum = 0;
    for (int w = 0; w < PER_BAG; w++)
        sum += table[words[bag * PER_BAG + w] * DIM + d];
    out[bag * DIM + d] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "embedding_bag");
    int bags = p.small ? 1 << 10 : 1 << 16, rows = p.small ? 1 << 12 : 1 << 16;
    std::vector<float> table = random_floats((size_t)rows * DIM, -1, 1, 1);
    std::vector<int> words(bags * PER_BAG);
    lcg_fill(words.data(), words.size(), 2, rows);
    float *d_table = device_copy_of(table.data(), table.size()), *d_out = device_array<float>((size_t)bags * DIM);
    int *d_words = device_copy_of(words.data(), words.size());
    pair_time(&p, [&] { embedding_bag<<<bags * DIM / BLOCK, BLOCK>>>(d_table, d_words, d_out, bags); });
    std::vector<float> out = host_copy_of(d_out, (size_t)bags * DIM);
    for (size_t i = 0; i < out.size(); i += 1009) {
        double sum = 0;
        for (int w = 0; w < PER_BAG; w++)
            sum += table[(size_t)words[i / DIM * PER_BAG + w] * DIM + i % DIM];
        pair_near(&p, "out", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
