// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Also: global-coalescing
// Change: the queries come in the order of a space-filling curve instead of any order.
// Why: lanes whose queries lie apart descend to different parts of the tree and visit different numbers of nodes.
#include "../common.h"

enum { BLOCK = 128, LEVELS = 14, NODES = (1 << LEVELS) - 1 };

struct Node {
    float x, y;
};

// The nearest point of a balanced k-d tree in heap order (children of i: 2i + 1 and 2i + 2), axis by level.
static __host__ __device__ float nearest(const Node *tree, float x, float y) {
    float best = 1e30f;
    int stack[2 * LEVELS], depth = 0;
    stack[depth++] = 0;
    while (depth) {
        int i = stack[--depth];
        while (i < NODES) {
            Node node = tree[i];
            float dx = x - node.x, dy = y - node.y;
            best = fminf(best, dx * dx + dy * dy);
            int level = 0;
            for (int up = i + 1; up > 1; up >>= 1)
                level++;
            float side = level & 1 ? dy : dx;
            int near = 2 * i + 1 + (side > 0), far = 2 * i + 1 + (side <= 0);
            if (far < NODES && side * side < best)
                stack[depth++] = far;
            i = near;
        }
    }
    return best;
}

__global__ void kd_nearest(const Node *tree, const Node *queries, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = nearest(tree, queries[i].x, queries[i].y);
}

static void build(Node *points, int count, Node *tree, int at, int axis) {
    if (count == 0)
        return;
    int middle = count / 2;
    std::nth_element(points, points + middle, points + count,
                     [&](const Node &a, const Node &b) { return axis ? a.y < b.y : a.x < b.x; });
    tree[at] = points[middle];
    build(points, middle, tree, 2 * at + 1, !axis);
    build(points + middle + 1, count - middle - 1, tree, 2 * at + 2, !axis);
}

#ifdef AFTER
static unsigned along_the_curve(const Node &q) {
    unsigned code = 0, x = (unsigned)(q.x * 4096), y = (unsigned)(q.y * 4096);
    for (int b = 0; b < 12; b++)
        code |= (x >> b & 1) << 2 * b | (y >> b & 1) << (2 * b + 1);
    return code;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kd_nearest");
    int n = p.small ? 1 << 14 : 1 << 20;
    std::vector<float> place = random_floats(2 * NODES, 0, 1, 1), wanted = random_floats((size_t)2 * n, 0, 1, 2);
    std::vector<Node> points(NODES), tree(NODES), queries(n);
    for (int i = 0; i < NODES; i++)
        points[i] = {place[2 * i], place[2 * i + 1]};
    for (int i = 0; i < n; i++)
        queries[i] = {wanted[2 * i], wanted[2 * i + 1]};
    build(points.data(), NODES, tree.data(), 0, 0);
#ifdef AFTER
    std::sort(queries.begin(), queries.end(),
              [](const Node &a, const Node &b) { return along_the_curve(a) < along_the_curve(b); });
#endif
    Node *d_tree = device_copy_of(tree.data(), NODES), *d_queries = device_copy_of(queries.data(), n);
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { kd_nearest<<<n / BLOCK, BLOCK>>>(d_tree, d_queries, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 173)
        pair_near(&p, "distance", i, nearest(tree.data(), queries[i].x, queries[i].y), out[i], 1e-5);
    return pair_end(&p);
}
