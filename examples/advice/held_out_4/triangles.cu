// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: CTAs take vertices in turn instead of runs of neighbours.
// Why: vertices are sorted by degree: the first CTAs have the long lists.
#include "../common.h"

enum { BLOCK = 128, WARPS = BLOCK / 32, CTAS = 1056 };

// Triangles of a graph: a warp has a vertex, a lane intersects the list of one neighbour with the vertex's own.
__global__ void triangles(const int *start, const int *list, unsigned *count, int vertices) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, share = (vertices + gridDim.x - 1) / gridDim.x;
    for (int k = warp; k < share; k += WARPS) {
#ifdef AFTER
        int v = k * gridDim.x + blockIdx.x;
#else
        int v = blockIdx.x * share + k;
#endif
        if (v >= vertices)
            continue;
        unsigned found = 0;
        for (int e = start[v] + lane; e < start[v + 1]; e += 32) {
            int u = list[e], a = start[v], b = start[u];
            while (a < start[v + 1] && b < start[u + 1]) {
                int left = list[a], right = list[b];
                found += left == right;
                a += left <= right;
                b += right <= left;
            }
        }
        for (int d = 16; d; d /= 2)
            found += __shfl_down_sync(~0u, found, d);
        if (lane == 0)
            count[v] = found;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "triangles");
    int vertices = p.small ? 4096 : 1 << 17;
    std::vector<int> start(vertices + 1), list;
    unsigned seed = 1;
    for (int v = 0; v < vertices; v++) {
        int degree = 6 + (int)(120.0 / (1 + 12.0 * v / vertices));
        std::vector<int> own(degree);
        for (int &u : own)
            u = lcg_next(&seed, vertices);
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
        list.insert(list.end(), own.begin(), own.end());
        start[v + 1] = (int)list.size();
    }
    int *d_start = device_copy_of(start.data(), start.size()), *d_list = device_copy_of(list.data(), list.size());
    unsigned *d_count = device_array<unsigned>(vertices);
    pair_time(&p, [&] { triangles<<<CTAS, BLOCK>>>(d_start, d_list, d_count, vertices); });
    std::vector<unsigned> count = host_copy_of(d_count, vertices);
    for (int v = 0; v < vertices; v += 211) {
        int expected = 0;
        for (int e = start[v]; e < start[v + 1]; e++)
            for (int f = start[list[e]]; f < start[list[e] + 1]; f++)
                expected += std::binary_search(list.begin() + start[v], list.begin() + start[v + 1], list[f]);
        pair_near(&p, "triangles", v, expected, count[v], 0);
    }
    return pair_end(&p);
}
