// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: trees are complete, so that a child is found by computing its number.
// Why: the number of the next node is loaded before its threshold can be.
#include "../common.h"

enum { BLOCK = 256, TREES = 16, DEPTH = 6, NODES = 1 << (DEPTH + 1), FEATURES = 8 };

// What a forest of regression trees expects of each row.
__global__ void boosted_trees(const float *rows, const float *thresholds, const int *left, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < TREES; t++) {
        int node = 1;
        for (int d = 0; d < DEPTH; d++) {
            bool right = rows[(d + t) % FEATURES * n + i] > thresholds[t * NODES + node];
#ifdef AFTER
            (void)left;
            node = 2 * node + right;
#else
            node = left[t * NODES + node] + right;
#endif
        }
        sum += thresholds[t * NODES + node];
    }
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "boosted_trees");
    int n = p.small ? 1 << 12 : 1 << 20;
    std::vector<float> rows = random_floats((size_t)n * FEATURES, 0, 1, 1),
                       thresholds = random_floats(TREES * NODES, 0, 1, 2);
    std::vector<int> left(TREES * NODES);
    for (int k = 0; k < TREES * NODES; k++)
        left[k] = 2 * (k % NODES);
    float *d_rows = device_copy_of(rows.data(), rows.size()),
          *d_thresholds = device_copy_of(thresholds.data(), thresholds.size()), *d_out = device_array<float>(n);
    int *d_left = device_copy_of(left.data(), left.size());
    pair_time(&p, [&] { boosted_trees<<<n / BLOCK, BLOCK>>>(d_rows, d_thresholds, d_left, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 211) {
        double sum = 0;
        for (int t = 0; t < TREES; t++) {
            int node = 1;
            for (int d = 0; d < DEPTH; d++)
                node = 2 * node + (rows[(size_t)((d + t) % FEATURES) * n + i] > thresholds[t * NODES + node]);
            sum += thresholds[t * NODES + node];
        }
        pair_near(&p, "sum", i, sum, out[i], 1e-5);
    }
    return pair_end(&p);
}
