// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: CTAs of 256 threads instead of 32.
// Why: an SM holds 32 CTAs, which are but half of its warps.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

// A step of Bellman and Ford's shortest paths, an edge by each thread: x, y are its ends, z is its length.
__global__ void edge_relax(const int4 *edges, const int *before, int *after) {
    int4 e = edges[blockIdx.x * BLOCK + threadIdx.x];
    int there = before[e.x] + e.z;
    if (there < before[e.y])
        atomicMin(&after[e.y], there);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "edge_relax");
    int n = p.small ? 1 << 15 : 1 << 23, nodes = n / 8;
    std::vector<int> before(nodes), after;
    lcg_fill(before.data(), nodes, 1, 1000);
    after = before;
    std::vector<int4> edges(n);
    unsigned seed = 2;
    for (int i = 0; i < n; i++) {
        edges[i] = make_int4(i / 8, (i / 8 + 1 + lcg_next(&seed, 1 << 12)) % nodes, 300 + lcg_next(&seed, 700), 0);
        after[edges[i].y] = std::min(after[edges[i].y], before[edges[i].x] + edges[i].z);
    }
    int *d_before = device_copy_of(before.data(), nodes), *d_after = device_copy_of(before.data(), nodes);
    int4 *d_edges = device_copy_of(edges.data(), n);
    pair_time(&p, [&] { edge_relax<<<n / BLOCK, BLOCK>>>(d_edges, d_before, d_after); });
    std::vector<int> out = host_copy_of(d_after, nodes);
    for (int i = 0; i < nodes; i++)
        pair_near(&p, "distance", i, after[i], out[i], 0);
    return pair_end(&p);
}
