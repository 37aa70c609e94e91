// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: the widths of four years are loaded before the first of them is used.
// Why: there are few trees, and each year waits for its width because the load may not pass the store before it.
#include "../common.h"

enum { BLOCK = 64 };

struct Tree {
    float expected, persistence, previous;
};

// How much wider a ring is than expected at its age, less what is left of the year before.
static __host__ __device__ inline float ring_index(Tree *tree, float width) {
    float ratio = width / tree->expected - 1.0f, index = ratio - tree->persistence * tree->previous;
    tree->expected = 0.4f + 0.995f * (tree->expected - 0.4f);
    tree->previous = ratio;
    return index;
}

__global__ void ring_indices(const float *widths, const float *first, float *indices, int trees, int years) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    Tree tree = {first[i], 0.45f, 0.0f};
#ifdef AFTER
    for (int year = 0; year < years; year += 4) {
        float loaded[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            loaded[k] = widths[(year + k) * trees + i];
#pragma unroll
        for (int k = 0; k < 4; k++)
            indices[(year + k) * trees + i] = ring_index(&tree, loaded[k]);
    }
#else
    for (int year = 0; year < years; year++)
        indices[year * trees + i] = ring_index(&tree, widths[year * trees + i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tree_rings");
    int trees = p.small ? 256 : 1 << 14, years = p.small ? 64 : 512;
    std::vector<float> widths = random_floats((size_t)trees * years, 0.2f, 3, 1), first = random_floats(trees, 1, 3, 2);
    float *d_widths = device_copy_of(widths.data(), widths.size()), *d_first = device_copy_of(first.data(), trees),
          *d_indices = device_array<float>(widths.size());
    pair_time(&p, [&] { ring_indices<<<trees / BLOCK, BLOCK>>>(d_widths, d_first, d_indices, trees, years); });
    std::vector<float> indices = host_copy_of(d_indices, widths.size());
    for (int i = 0; i < trees; i += 61) {
        Tree tree = {first[i], 0.45f, 0.0f};
        for (int year = 0; year < years; year++) {
            size_t at = (size_t)year * trees + i;
            pair_near(&p, "index", at, ring_index(&tree, widths[at]), indices[at], 1e-3);
        }
    }
    return pair_end(&p);
}
