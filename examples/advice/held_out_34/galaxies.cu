// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stack of a search has 20 places instead of 96.
// Why: the stacks lie in shared memory, 48 KB of it in a CTA, so four CTAs fill an SM and a quarter of its warps wait
// for the nodes of the tree; the tree has 18 levels, so that 20 places are enough and the SM holds all its warps.
#include "../common.h"

#ifdef AFTER
enum { STACK = 20 };
#else
enum { STACK = 96 };
#endif
enum { THREADS = 128 };

// A galaxy: where it is, in megaparsecs, and how heavy. The catalogue is a k-d tree: the children of node i are 2i + 1
// and 2i + 2, levels split x, y, z in turn, and every level is full.
using Galaxy = float4;

__host__ __device__ inline float coordinate(const Galaxy &g, int axis) {
    return axis == 0 ? g.x : axis == 1 ? g.y : g.z;
}

// The density around each galaxy: the masses within `radius`, weighted by a kernel that falls to zero there.
__global__ void galaxies(const Galaxy *__restrict__ tree, float *__restrict__ density, int count, float radius) {
    __shared__ int stack[STACK * THREADS];
    const int self = blockIdx.x * THREADS + threadIdx.x;
    if (self >= count)
        return;
    int *top = stack + threadIdx.x;
    const int *bottom = top;
    const Galaxy centre = tree[self];
    const float inverse = 1 / (radius * radius);
    float sum = 0;
    int node = 0;
    while (true) {
        const Galaxy g = tree[node];
        const float dx = g.x - centre.x, dy = g.y - centre.y, dz = g.z - centre.z;
        const float weight = 1 - (dx * dx + dy * dy + dz * dz) * inverse;
        if (weight > 0)
            sum += g.w * weight * weight;
        const int left = 2 * node + 1;
        if (left < count) {
            const int axis = (31 - __clz(node + 1)) % 3;
            const float beyond = coordinate(centre, axis) - coordinate(g, axis);
            const bool right = beyond > 0;
            if (fabsf(beyond) < radius) {
                // The other side is near enough to hold neighbours too.
                *top = right ? left : left + 1;
                top += THREADS;
            }
            node = right ? left + 1 : left;
        } else {
            if (top == bottom)
                break;
            top -= THREADS;
            node = *top;
        }
    }
    density[self] = sum;
}

// Puts the median of items[first, last) at `node` and the two halves below it.
static void build(std::vector<Galaxy> *items, std::vector<Galaxy> *tree, int first, int last, int node, int axis) {
    if (first >= last)
        return;
    const int middle = (first + last) / 2;
    std::nth_element(items->begin() + first, items->begin() + middle, items->begin() + last,
                     [axis](const Galaxy &a, const Galaxy &b) { return coordinate(a, axis) < coordinate(b, axis); });
    (*tree)[node] = (*items)[middle];
    build(items, tree, first, middle, 2 * node + 1, (axis + 1) % 3);
    build(items, tree, middle + 1, last, 2 * node + 2, (axis + 1) % 3);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "galaxies");
    const int levels = p.small ? 9 : 18, count = (1 << levels) - 1;
    const float box = p.small ? 60 : 480, radius = p.small ? 5 : 9;

    // Half of the galaxies are in clusters, the others anywhere.
    std::vector<Galaxy> items(count), tree(count);
    unsigned seed = 1936;
    const auto uniform = [&] { return (lcg_next(&seed, 1 << 20) + 0.5f) / (1 << 20); };
    Galaxy cluster = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        if (i % 64 == 0)
            cluster = {box * uniform(), box * uniform(), box * uniform(), 0};
        Galaxy &g = items[i];
        if (i % 2) {
            g = {box * uniform(), box * uniform(), box * uniform(), 0};
        } else {
            const auto offset = [&] { return 4 * (uniform() + uniform() + uniform() - 1.5f); };
            g = {cluster.x + offset(), cluster.y + offset(), cluster.z + offset(), 0};
        }
        g.w = 0.05f / (0.02f + uniform());
    }
    build(&items, &tree, 0, count, 0, 0);

    Galaxy *d_tree = device_copy_of(tree.data(), count);
    float *d_density = device_array<float>(count);
    pair_time(&p, [&] { galaxies<<<(count + THREADS - 1) / THREADS, THREADS>>>(d_tree, d_density, count, radius); });

    std::vector<float> density = host_copy_of(d_density, count);
    for (int i = 0; i < count; i += p.small ? 5 : 4201) {
        double sum = 0;
        for (const Galaxy &g : tree) {
            double dx = (double)g.x - tree[i].x, dy = (double)g.y - tree[i].y, dz = (double)g.z - tree[i].z;
            double weight = 1 - (dx * dx + dy * dy + dz * dz) / ((double)radius * radius);
            if (weight > 0)
                sum += g.w * weight * weight;
        }
        pair_near(&p, "density", i, sum, density[i], 1e-4);
    }
    return pair_end(&p);
}
