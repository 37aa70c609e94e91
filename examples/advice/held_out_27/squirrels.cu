// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stacks in shared memory have 24 entries, which is enough for these trees, not 96.
// Why: 48 KB for a block of 128 threads leave 16 warps on a multiprocessor, too few to hide the wait for the next node.
#include "../common.h"

#ifdef AFTER
enum { STACK = 24 };
#else
enum { STACK = 96 };
#endif

enum { BLOCK = 128, FIELD = 16384 };

// A node of a k-d tree. Children of node k: 2 k + 1 with no larger, 2 k + 2 with no smaller coordinate on its axis.
struct __align__(16) Nut {
    int x, y, grams, axis;
};

struct Squirrel {
    int x, y, reach;
};

// How many nuts each squirrel has within reach, and their weight. The stack never holds more entries than the tree has
// levels.
__global__ void find_nuts(const Nut *tree, int nodes, const Squirrel *squirrels, int2 *found) {
    __shared__ int stack[STACK][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, me = threadIdx.x, top = 1, count = 0, grams = 0;
    Squirrel s = squirrels[i];
    stack[0][me] = 0;
    while (top > 0) {
        int node = stack[--top][me];
        Nut nut = tree[node];
        int dx = s.x - nut.x, dy = s.y - nut.y, off = nut.axis ? dy : dx;
        if (dx * dx + dy * dy <= s.reach * s.reach) {
            count++;
            grams += nut.grams;
        }
        if (2 * node + 1 < nodes) {
            if (off <= s.reach)
                stack[top++][me] = 2 * node + 1;
            if (off >= -s.reach)
                stack[top++][me] = 2 * node + 2;
        }
    }
    found[i] = make_int2(count, grams);
}

// Nodes are always 2^k - 1 in number, so both halves are too.
static void plant(Nut *tree, Nut *begin, Nut *end, size_t node, int axis) {
    Nut *middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end,
                     [=](const Nut &a, const Nut &b) { return axis ? a.y < b.y : a.x < b.x; });
    tree[node] = *middle;
    tree[node].axis = axis;
    if (middle == begin)
        return;
    plant(tree, begin, middle, 2 * node + 1, !axis);
    plant(tree, middle + 1, end, 2 * node + 2, !axis);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "squirrels");
    int nodes = (1 << (p.small ? 8 : 18)) - 1, across = p.small ? 16 : 512, n = across * (p.small ? 16 : 528);
    int reach = p.small ? 1000 : 30, step = FIELD / across;
    unsigned seed = 11;
    std::vector<Nut> nuts(nodes), tree(nodes);
    for (Nut &nut : nuts) {
        nut.x = lcg_next(&seed, FIELD);
        nut.y = lcg_next(&seed, FIELD);
        nut.grams = 1 + lcg_next(&seed, 9);
        nut.axis = 0;
    }
    plant(tree.data(), nuts.data(), nuts.data() + nodes, 0, 0);
    std::vector<Squirrel> squirrels(n);
    for (int i = 0; i < n; i++) {
        squirrels[i].x = i % across * step + lcg_next(&seed, step);
        squirrels[i].y = i / across % across * step + lcg_next(&seed, step);
        squirrels[i].reach = reach + lcg_next(&seed, 2 * reach);
    }
    Nut *d_tree = device_copy_of(tree.data(), nodes);
    Squirrel *d_squirrels = device_copy_of(squirrels.data(), n);
    int2 *d_found = device_array<int2>(n);
    pair_time(&p, [&] { find_nuts<<<n / BLOCK, BLOCK>>>(d_tree, nodes, d_squirrels, d_found); });
    std::vector<int2> found = host_copy_of(d_found, n);
    for (int i = 0; i < n; i += p.small ? 1 : 1501) {
        int count = 0, grams = 0, x = squirrels[i].x, y = squirrels[i].y, far = squirrels[i].reach;
        for (const Nut &nut : nuts)
            if ((nut.x - x) * (nut.x - x) + (nut.y - y) * (nut.y - y) <= far * far) {
                count++;
                grams += nut.grams;
            }
        pair_near(&p, "nuts", i, count, found[i].x, 0);
        pair_near(&p, "grams", i, grams, found[i].y, 0);
    }
    return pair_end(&p);
}
