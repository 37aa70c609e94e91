// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: threads take the boxes in the order of the tree's leaves.
// Why: neighbouring threads' boxes are far apart, so that they go through other parts of the tree.
// Post: Thinking Parallel, Part II: Tree Traversal on the GPU
#include "../common.h"

enum { BLOCK = 128 };

struct Box {
    float4 low, high;
};

__host__ __device__ static inline bool overlap(const Box &a, const Box &b) {
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
           a.low.z <= b.high.z && b.low.z <= a.high.z;
}

// How many leaves each box meets. The tree is complete: node i has the children 2 i + 1 and 2 i + 2, leaves come last.
__global__ void find_collisions(const Box *nodes, const Box *queries, int *counts, int leaves) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    Box query = queries[t];
    int stack[32], *top = stack, count = 0, node = 0;
    *top++ = -1;
    do {
        int left = 2 * node + 1, right = left + 1;
        bool in_left = overlap(query, nodes[left]), in_right = overlap(query, nodes[right]);
        bool leaf = left >= leaves - 1;
        count += leaf ? in_left + in_right : 0;
        bool go_left = in_left && !leaf, go_right = in_right && !leaf;
        if (!go_left && !go_right)
            node = *--top;
        else {
            node = go_left ? left : right;
            if (go_left && go_right)
                *top++ = right;
        }
    } while (node != -1);
    counts[t] = count;
}

static unsigned spread(unsigned v) {
    v = (v * 0x00010001u) & 0xff0000ffu;
    v = (v * 0x00000101u) & 0x0f00f00fu;
    v = (v * 0x00000011u) & 0xc30c30c3u;
    return (v * 0x00000005u) & 0x49249249u;
}

static unsigned morton(const Box &b) {
    return spread((unsigned)(b.low.x * 1000)) * 4 + spread((unsigned)(b.low.y * 1000)) * 2 +
           spread((unsigned)(b.low.z * 1000));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tree_queries");
    int n = p.small ? 1 << 12 : 1 << 18;
    float size = p.small ? 0.05f : 0.012f;
    unsigned seed = 1;
    std::vector<Box> boxes(n), nodes(2 * n - 1);
    for (Box &b : boxes) {
        float c[3];
        for (float &x : c)
            x = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
        b.low = make_float4(c[0], c[1], c[2], 0);
        b.high = make_float4(c[0] + size, c[1] + size, c[2] + size, 0);
    }
    std::vector<Box> leaves = boxes;
    std::sort(leaves.begin(), leaves.end(), [](const Box &a, const Box &b) { return morton(a) < morton(b); });
    std::copy(leaves.begin(), leaves.end(), nodes.begin() + n - 1);
    for (int i = n - 2; i >= 0; i--) {
        const Box &a = nodes[2 * i + 1], &b = nodes[2 * i + 2];
        nodes[i].low =
            make_float4(std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y), std::min(a.low.z, b.low.z), 0);
        nodes[i].high =
            make_float4(std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y), std::max(a.high.z, b.high.z), 0);
    }
#ifdef AFTER
    const std::vector<Box> &queries = leaves;
#else
    const std::vector<Box> &queries = boxes;
#endif
    Box *d_nodes = device_copy_of(nodes.data(), nodes.size()), *d_queries = device_copy_of(queries.data(), n);
    int *d_counts = device_array<int>(n);
    pair_time(&p, [&] { find_collisions<<<n / BLOCK, BLOCK>>>(d_nodes, d_queries, d_counts, n); });
    std::vector<int> counts = host_copy_of(d_counts, n);
    for (int t = 0; t < n; t += n / 8) {
        int count = 0;
        for (const Box &b : boxes)
            count += overlap(b, queries[t]);
        pair_near(&p, "counts", t, count, counts[t], 0);
    }
    return pair_end(&p);
}
