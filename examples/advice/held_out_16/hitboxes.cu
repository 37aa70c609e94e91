// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a thread's stack in shared memory has 20 places instead of 64, which is enough for the tree's depth.
// Why: 32 KiB of stacks leave room for six blocks on an SM, and going down a tree waits for memory at each node.
#include "../common.h"

enum { BLOCK = 128 };

#ifdef AFTER
enum { STACK = 20 };
#else
enum { STACK = 64 };
#endif

struct Box {
    float4 low, high;
};

static __host__ __device__ bool overlap(const Box &a, const Box &b) {
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
           a.low.z <= b.high.z && b.low.z <= a.high.z;
}

// The box of a bullet's way through one frame of the game.
static __host__ __device__ Box swept(float3 from, float3 to) {
    Box box;
    box.low = make_float4(fminf(from.x, to.x), fminf(from.y, to.y), fminf(from.z, to.z), 0);
    box.high = make_float4(fmaxf(from.x, to.x), fmaxf(from.y, to.y), fmaxf(from.z, to.z), 0);
    return box;
}

// Which hitboxes each bullet may hit. Node 1 of the tree is its root, the children of node i are 2 i and 2 i + 1.
__global__ void __launch_bounds__(BLOCK)
    candidates(const Box *tree, unsigned leaves, const float3 *from, const float3 *to, int2 *result, int bullets) {
    __shared__ unsigned stacks[STACK][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= bullets)
        return;
    Box way = swept(from[i], to[i]);
    int hits = 0, lowest = -1, depth = 0;
    stacks[depth++][threadIdx.x] = 1;
    while (depth > 0) {
        unsigned node = stacks[--depth][threadIdx.x];
        if (!overlap(tree[node], way))
            continue;
        if (node >= leaves) {
            if (hits++ == 0)
                lowest = node - leaves;
        } else {
            stacks[depth++][threadIdx.x] = 2 * node + 1;
            stacks[depth++][threadIdx.x] = 2 * node;
        }
    }
    result[i] = make_int2(hits, lowest);
}

static unsigned spread(unsigned v) {  // two zeros behind each bit
    unsigned out = 0;
    for (int bit = 0; bit < 10; bit++)
        out |= (v >> bit & 1) << 3 * bit;
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hitboxes");
    unsigned leaves = p.small ? 1 << 10 : 1 << 17, seed = 1;
    int bullets = p.small ? 2048 : 600000;
    float world = p.small ? 200 : 1000;
    std::vector<std::pair<unsigned, Box>> boxes(leaves);
    for (auto &box : boxes) {
        float at[3], size[3];
        for (int k = 0; k < 3; k++) {
            at[k] = world * lcg_next(&seed, 1 << 20) / (1 << 20);
            size[k] = 2 + lcg_next(&seed, 1000) / 250.0f;
        }
        unsigned cell[3];
        for (int k = 0; k < 3; k++)
            cell[k] = (unsigned)(at[k] / world * 1023);
        box.first = spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2;
        box.second.low = make_float4(at[0], at[1], at[2], 0);
        box.second.high = make_float4(at[0] + size[0], at[1] + size[1], at[2] + size[2], 0);
    }
    std::stable_sort(boxes.begin(), boxes.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<Box> tree(2 * leaves);
    tree[0] = boxes[0].second;
    for (unsigned i = 0; i < leaves; i++)
        tree[leaves + i] = boxes[i].second;
    for (unsigned i = leaves - 1; i > 0; i--) {
        const Box &a = tree[2 * i], &b = tree[2 * i + 1];
        tree[i].low =
            make_float4(std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y), std::min(a.low.z, b.low.z), 0);
        tree[i].high =
            make_float4(std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y), std::max(a.high.z, b.high.z), 0);
    }
    std::vector<float3> from(bullets), to(bullets);
    float at[3] = {}, flight[3] = {};
    for (int i = 0; i < bullets; i++) {  // 24 of them from one gun
        for (int k = 0; k < 3 && i % 24 == 0; k++) {
            at[k] = world * lcg_next(&seed, 1 << 20) / (1 << 20);
            flight[k] = lcg_next(&seed, 3000) / 100.0f - 15;
        }
        float aside = lcg_next(&seed, 400) / 100.0f - 2, above = lcg_next(&seed, 400) / 100.0f - 2;
        from[i] = make_float3(at[0], at[1], at[2]);
        to[i] = make_float3(at[0] + flight[0] + aside, at[1] + flight[1] - aside, at[2] + flight[2] + above);
    }
    Box *d_tree = device_copy_of(tree.data(), tree.size());
    float3 *d_from = device_copy_of(from.data(), bullets), *d_to = device_copy_of(to.data(), bullets);
    int2 *d_result = device_array<int2>(bullets);
    pair_time(&p, [&] {
        candidates<<<(bullets + BLOCK - 1) / BLOCK, BLOCK>>>(d_tree, leaves, d_from, d_to, d_result, bullets);
    });
    std::vector<int2> result = host_copy_of(d_result, bullets);
    for (int i = 0; i < bullets; i += 1 + bullets / 500) {
        Box way = swept(from[i], to[i]);
        int hits = 0, lowest = -1;
        for (unsigned leaf = 0; leaf < leaves; leaf++)
            if (overlap(tree[leaves + leaf], way) && hits++ == 0)
                lowest = leaf;
        pair_near(&p, "hits", i, hits, result[i].x, 0);
        pair_near(&p, "lowest", i, lowest, result[i].y, 0);
    }
    return pair_end(&p);
}
