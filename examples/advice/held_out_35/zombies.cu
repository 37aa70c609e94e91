// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stack of the search in shared memory is 16 levels deep, as the tree needs, and no longer 48.
// Why: with 48 KB a block only four blocks fit on a multiprocessor, and 16 warps are too few to wait for the nodes of
// the tree, each of which is found only through the one before.
#include "../common.h"

#include <cfloat>

#ifdef AFTER
enum { STACK = 16 };
#else
enum { STACK = 48 };
#endif
enum { BLOCK = 128 };

// A branch of the tree that was not taken at first, and how far away (squared) it begins.
struct Later {
    int node;
    float gap;
};

// The nearest survivor for each zombie. survivors: a k-d tree in the order of a heap, split by x and y in turns.
__global__ void zombies(const float2 *__restrict__ survivors, int nodes, const float2 *__restrict__ position, int count,
                        int *__restrict__ prey, float *__restrict__ distance) {
    __shared__ Later later[STACK][BLOCK];
    const int me = blockIdx.x * BLOCK + threadIdx.x;
    if (me >= count)
        return;
    const float2 at = position[me];
    float best = FLT_MAX;
    int nearest = -1, waiting = 0, node = 0;
    for (;;) {
        while (node < nodes) {
            const float2 s = survivors[node];
            const float dx = at.x - s.x, dy = at.y - s.y, d = dx * dx + dy * dy;
            if (d < best) {
                best = d;
                nearest = node;
            }
            const float side = __clz(node + 1) & 1 ? dx : dy;
            const int near_child = 2 * node + (side < 0 ? 1 : 2), far_child = 4 * node + 3 - near_child;
            if (far_child < nodes && side * side < best)
                later[waiting++][threadIdx.x] = {far_child, side * side};
            node = near_child;
        }
        while (waiting > 0 && later[waiting - 1][threadIdx.x].gap >= best)
            waiting--;
        if (waiting == 0)
            break;
        node = later[--waiting][threadIdx.x].node;
    }
    prey[me] = nearest;
    distance[me] = sqrtf(best);
}

// Puts points[from, to) below `node`. The count is 2^k - 1, so that both halves have the same size.
static void build(std::vector<float2> &points, size_t from, size_t to, size_t node, std::vector<float2> &tree) {
    if (from >= to)
        return;
    const size_t middle = (from + to) / 2;
    const bool by_x = __builtin_clz((unsigned)node + 1) & 1;
    std::nth_element(points.begin() + from, points.begin() + middle, points.begin() + to,
                     [=](float2 a, float2 b) { return by_x ? a.x < b.x : a.y < b.y; });
    tree[node] = points[middle];
    build(points, from, middle, 2 * node + 1, tree);
    build(points, middle + 1, to, 2 * node + 2, tree);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zombies");
    const int levels = p.small ? 8 : 17, nodes = (1 << levels) - 1, count = p.small ? 500 : 1000000;
    const float city = 8000;  // metres

    if (levels - 1 > STACK)
        fail_now("the tree has %d levels", levels);
    // Half of the survivors hide around shelters.
    unsigned seed = 1968;
    std::vector<float2> points(nodes), tree(nodes), position(count), shelters(60);
    auto anywhere = [&](float from, float size) { return from + size * lcg_next(&seed, 1 << 20) / (float)(1 << 20); };
    for (float2 &s : shelters)
        s = {anywhere(0, city), anywhere(0, city)};
    for (int i = 0; i < nodes; i++) {
        const float2 s = shelters[i % shelters.size()];
        points[i] = i & 1 ? float2{anywhere(0, city), anywhere(0, city)}
                          : float2{anywhere(s.x - 250, 500), anywhere(s.y - 250, 500)};
    }
    for (float2 &z : position)
        z = {anywhere(0, city), anywhere(0, city)};
    build(points, 0, nodes, 0, tree);

    float2 *d_tree = device_copy_of(tree.data(), nodes), *d_position = device_copy_of(position.data(), count);
    int *d_prey = device_array<int>(count);
    float *d_distance = device_array<float>(count);
    pair_time(&p, [&] {
        zombies<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_tree, nodes, d_position, count, d_prey, d_distance);
    });

    std::vector<int> prey = host_copy_of(d_prey, count);
    std::vector<float> distance = host_copy_of(d_distance, count);
    for (int z = 0; z < count; z += p.small ? 3 : 9973) {
        double best = 1e30;
        for (const float2 &s : tree)
            best = std::min(best, pow((double)s.x - position[z].x, 2) + pow((double)s.y - position[z].y, 2));
        pair_near(&p, "distance", z, sqrt(best), distance[z], 1e-4);
        if (prey[z] < 0 || prey[z] >= nodes)
            fail_now("zombie %d has prey %d", z, prey[z]);
        const float2 s = tree[prey[z]];
        pair_near(&p, "prey", z, sqrt(best), hypot((double)s.x - position[z].x, (double)s.y - position[z].y), 1e-4);
    }
    return pair_end(&p);
}
