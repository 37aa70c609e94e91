// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a thread's stack in shared memory has room for 24 nodes, which the balanced tree never exceeds, not for 96.
// Why: with 48 KB of stacks for each block only four blocks, 16 of 64 warps, fit on a multiprocessor, too few to wait
//      for the nodes that the walk down the tree needs one after the other; with 12 KB all 64 fit.
#include "../common.h"

enum { BLOCK = 128 };
#ifdef AFTER
enum { DEPTH = 24 };
#else
enum { DEPTH = 96 };
#endif

struct Found {
    int count;
    float area;
};

// A box is its lower left (x, y) and upper right (z, w) corner.
__host__ __device__ static inline bool overlap(const float4 &a, const float4 &b) {
    return a.x <= b.z && b.x <= a.z && a.y <= b.w && b.y <= a.w;
}

__host__ __device__ static inline float shared_area(const float4 &a, const float4 &b) {
    return (fminf(a.z, b.z) - fmaxf(a.x, b.x)) * (fminf(a.w, b.w) - fmaxf(a.y, b.y));
}

// What planned building sites take of allotments. Nodes n of the tree have the children 2n and 2n + 1; the allotments
// are the last `leaves` nodes.
__global__ void __launch_bounds__(BLOCK)
    affected(const float4 *tree, const float4 *sites, Found *found, int leaves, int site_count) {
    __shared__ int stack[DEPTH][BLOCK];
    int s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= site_count)
        return;
    float4 site = sites[s];
    Found mine = {0, 0};
    int top = 0;
    stack[top++][threadIdx.x] = 1;
    while (top > 0) {
        int node = stack[--top][threadIdx.x];
        float4 box = tree[node];
        if (!overlap(box, site))
            continue;
        if (node >= leaves) {
            mine.count++;
            mine.area += shared_area(box, site);
        } else {
            stack[top++][threadIdx.x] = 2 * node;
            stack[top++][threadIdx.x] = 2 * node + 1;
        }
    }
    found[s] = mine;
}

// Every second bit of a number along the Z curve.
static unsigned even_bits(unsigned z) {
    unsigned out = 0;
    for (int b = 0; b < 16; b++)
        out |= (z >> (2 * b) & 1) << b;
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "allotments");
    int levels = p.small ? 10 : 18, leaves = 1 << levels, side = 1 << (levels / 2);
    int site_count = p.small ? 1000 : 132 * 2048 * 2;
    std::vector<float> r = random_floats((size_t)leaves * 4, 0, 1, 1),
                       q = random_floats((size_t)site_count * 4, 0, 1, 2);
    std::vector<float4> tree(2 * leaves), sites(site_count);
    for (int i = 0; i < leaves; i++) {
        float x = even_bits(i) + 0.4f * r[4 * i], y = even_bits(i >> 1) + 0.4f * r[4 * i + 1];
        tree[leaves + i] = make_float4(x, y, x + 0.4f + 0.4f * r[4 * i + 2], y + 0.4f + 0.4f * r[4 * i + 3]);
    }
    for (int n = leaves - 1; n > 0; n--) {
        const float4 &a = tree[2 * n], &b = tree[2 * n + 1];
        tree[n] = make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
    }
    for (int s = 0; s < site_count; s++) {
        unsigned z = (unsigned)((double)s * leaves / site_count);
        float x = even_bits(z) + 3 * q[4 * s] - 1, y = even_bits(z >> 1) + 3 * q[4 * s + 1] - 1;
        sites[s] = make_float4(x, y, x + 0.3f + 1.5f * q[4 * s + 2], y + 0.3f + 1.5f * q[4 * s + 3]);
    }
    float4 *d_tree = device_copy_of(tree.data(), tree.size()), *d_sites = device_copy_of(sites.data(), sites.size());
    Found *d_found = device_array<Found>(site_count);
    int blocks = (site_count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { affected<<<blocks, BLOCK>>>(d_tree, d_sites, d_found, leaves, site_count); });
    std::vector<Found> found = host_copy_of(d_found, site_count);
    std::vector<int> z_of((size_t)side * side);  // the allotment in a row and column
    for (int i = 0; i < leaves; i++)
        z_of[even_bits(i >> 1) * side + even_bits(i)] = i;
    for (int s = 0; s < site_count; s += p.small ? 1 : 13) {
        Found want = {0, 0};
        const float4 &site = sites[s];
        for (int y = std::max(0, (int)site.y - 2); y < std::min<int>(side, site.w + 2); y++)
            for (int x = std::max(0, (int)site.x - 2); x < std::min<int>(side, site.z + 2); x++) {
                const float4 &box = tree[leaves + z_of[y * side + x]];
                if (!overlap(box, site))
                    continue;
                want.count++;
                want.area += shared_area(box, site);
            }
        pair_near(&p, "count", s, want.count, found[s].count, 0);
        pair_near(&p, "area", s, want.area, found[s].area, 1e-4);
    }
    return pair_end(&p);
}
