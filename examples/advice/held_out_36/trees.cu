// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: a tree's nodes are one array of 16-byte records, not four arrays (feature, threshold, left, right).
// Why: lanes of a warp are at unrelated nodes, so every array costs a sector of its own for each lane; a record is
// fetched with one access to one sector.
#include "../common.h"

constexpr int THREADS = 128;
constexpr int FEATURES = 24;
constexpr int LEAF = -2;  // as feature; the threshold is then the tree's answer

struct alignas(16) Node {
    int feature;
    float threshold;
    int left;
    int right;
};

// All trees of a forest, one behind the other, each in depth-first order.
#ifdef AFTER
struct Forest {
    const Node *node;
};

__device__ Node read_node(const Forest &forest, int at) {
    return forest.node[at];
}
#else
struct Forest {
    const int *feature;
    const float *threshold;
    const int *left;
    const int *right;
};

__device__ Node read_node(const Forest &forest, int at) {
    return {forest.feature[at], forest.threshold[at], forest.left[at], forest.right[at]};
}
#endif

// One thread sends one sample down all trees and averages their answers.
__global__ void predict(Forest forest, const int *__restrict__ root, int trees, const float *__restrict__ samples,
                        float *__restrict__ answer, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const float *sample = samples + (size_t)i * FEATURES;
    float sum = 0;
    for (int t = 0; t < trees; t++) {
        Node node = read_node(forest, root[t]);
        while (node.feature != LEAF)
            node = read_node(forest, sample[node.feature] <= node.threshold ? node.left : node.right);
        sum += node.threshold;
    }
    answer[i] = sum / trees;
}

// Appends a random tree of at most `depth` levels; returns its root.
static int grow(std::vector<Node> *nodes, int depth, unsigned *seed) {
    int at = (int)nodes->size();
    float u = 0.001f * lcg_next(seed, 1000);
    nodes->push_back({LEAF, u, 0, 0});
    if (depth > 1 && (depth > 8 || lcg_next(seed, 8) > 0)) {
        int left = grow(nodes, depth - 1, seed);
        int right = grow(nodes, depth - 1, seed);
        (*nodes)[at] = {(int)lcg_next(seed, FEATURES), 0.2f + 0.6f * u, left, right};
    }
    return at;
}

static float predict_on_cpu(const std::vector<Node> &nodes, const std::vector<int> &root, const float *sample) {
    float sum = 0;
    for (int at : root) {
        while (nodes[at].feature != LEAF)
            at = sample[nodes[at].feature] <= nodes[at].threshold ? nodes[at].left : nodes[at].right;
        sum += nodes[at].threshold;
    }
    return sum / root.size();
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trees");
    int count = p.small ? 256 : 1 << 17, trees = p.small ? 4 : 48, depth = p.small ? 7 : 13;

    unsigned seed = 21;
    std::vector<Node> nodes;
    std::vector<int> root;
    for (int t = 0; t < trees; t++)
        root.push_back(grow(&nodes, depth, &seed));
    std::vector<float> samples = random_floats((size_t)count * FEATURES, 0, 1, 22);

    float *d_samples = device_copy_of(samples.data(), samples.size());
    int *d_root = device_copy_of(root.data(), trees);
    float *d_answer = device_array<float>(count);
#ifdef AFTER
    Node *d_node = device_copy_of(nodes.data(), nodes.size());
    Forest forest = {d_node};
#else
    std::vector<int> feature, left, right;
    std::vector<float> threshold;
    for (const Node &n : nodes) {
        feature.push_back(n.feature);
        threshold.push_back(n.threshold);
        left.push_back(n.left);
        right.push_back(n.right);
    }
    int *d_feature = device_copy_of(feature.data(), nodes.size()), *d_left = device_copy_of(left.data(), nodes.size());
    int *d_right = device_copy_of(right.data(), nodes.size());
    float *d_threshold = device_copy_of(threshold.data(), nodes.size());
    Forest forest = {d_feature, d_threshold, d_left, d_right};
#endif

    pair_time(&p, [&] {
        predict<<<(count + THREADS - 1) / THREADS, THREADS>>>(forest, d_root, trees, d_samples, d_answer, count);
    });

    std::vector<float> answer = host_copy_of(d_answer, count);
    for (int i = 0; i < count; i += p.small ? 1 : 101)
        pair_near(&p, "answer", i, predict_on_cpu(nodes, root, &samples[(size_t)i * FEATURES]), answer[i], 1e-5);

#ifdef AFTER
    CUDA_CHECK(cudaFree(d_node));
#else
    CUDA_CHECK(cudaFree(d_feature));
    CUDA_CHECK(cudaFree(d_threshold));
    CUDA_CHECK(cudaFree(d_left));
    CUDA_CHECK(cudaFree(d_right));
#endif
    CUDA_CHECK(cudaFree(d_samples));
    CUDA_CHECK(cudaFree(d_root));
    CUDA_CHECK(cudaFree(d_answer));
    return pair_end(&p);
}
