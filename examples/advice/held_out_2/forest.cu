// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the trees lie in one array, and where one begins is computed, instead of an array of pointers to trees.
// Why: the pointer to a tree is loaded and waited for before its first node can be.
#include "../common.h"

enum { BLOCK = 128, TREES = 256, DEPTH = 3, NODES = 8, FEATURES = 16 };

struct Node {
    int feature;
    float threshold;
};

// A forest of shallow decision trees votes on samples; node k has the children 2 k and 2 k + 1, and number 0 is unused.
__global__ void forest(const Node *const *trees, const Node *all, const float *samples, int *votes, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x, sum = 0;
#pragma unroll 1
    for (int t = 0; t < TREES; t++) {
        int which = (t * 37 + blockIdx.x) % TREES;
#ifdef AFTER
        const Node *tree = all + which * NODES;
#else
        const Node *tree = trees[which];
#endif
        int k = 1;
#pragma unroll
        for (int level = 0; level < DEPTH; level++) {
            Node node = tree[k];
            k = 2 * k + (samples[(size_t)node.feature * n + i] > node.threshold);
        }
        sum += k & 1;
    }
    votes[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "forest");
    int n = p.small ? 1 << 13 : 1 << 18;
    std::vector<Node> all(TREES * NODES);
    unsigned seed = 5;
    for (Node &node : all)
        node = {(int)lcg_next(&seed, FEATURES), lcg_next(&seed, 1000) / 1000.0f};
    std::vector<float> samples = random_floats((size_t)n * FEATURES, 0, 1, 1);
    Node *d_all = device_copy_of(all.data(), all.size());
    std::vector<const Node *> trees(TREES);
    for (int t = 0; t < TREES; t++)
        trees[t] = d_all + t * NODES;
    const Node **d_trees = device_copy_of(trees.data(), TREES);
    float *d_samples = device_copy_of(samples.data(), samples.size());
    int *d_votes = device_array<int>(n);
    pair_time(&p, [&] { forest<<<n / BLOCK, BLOCK>>>(d_trees, d_all, d_samples, d_votes, n); });
    std::vector<int> votes = host_copy_of(d_votes, n);
    for (int i = 0; i < n; i += 67) {
        int sum = 0;
        for (int t = 0; t < TREES; t++) {
            int k = 1;
            for (int level = 0; level < DEPTH; level++) {
                const Node &node = all[t * NODES + k];
                k = 2 * k + (samples[(size_t)node.feature * n + i] > node.threshold);
            }
            sum += k & 1;
        }
        pair_near(&p, "votes", i, sum, votes[i], 0);
    }
    return pair_end(&p);
}
