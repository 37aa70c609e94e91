// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search from node 0, one launch per level. AerialVision, section III-C, Fig. 10 (row activations per
// DRAM channel under three address mappings); GPA, section 6.2 and Table 3 (rodinia/bfs: so unbalanced that unrolling
// the edge loop helps far less than estimated). Most nodes have 1 to 4 edges, every 97th has 64.
#include "../common/check.h"

enum { BLOCK = 256, WARP = 32, FEW_EDGES = 4, HUB_EDGES = 64, HUB_EVERY = 97, UNREACHED = -1 };

// Every kernel gives the unreached neighbours of the nodes at `depth` the level depth + 1. Several threads may reach
// a node at once; all write the same value, so that plain stores do.

// A node per thread. In every level all nodes are looked at, few have work, and a hub holds up its whole warp.
__global__ void bfs_node(const int *row, const int *edge, int *level, int depth, int *changed, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = edge[e];
        if (level[w] == UNREACHED) {
            level[w] = depth + 1;
            *changed = 1;
        }
    }
}

// A node per warp: hubs are spread over the lanes and edges read coalesced; most lanes idle on ordinary nodes.
__global__ void bfs_warp(const int *row, const int *edge, int *level, int depth, int *changed, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, v = thread / WARP, lane = thread % WARP;
    if (v >= n || level[v] != depth)
        return;
    for (int e = row[v] + lane; e < row[v + 1]; e += WARP) {
        int w = edge[e];
        if (level[w] == UNREACHED) {
            level[w] = depth + 1;
            *changed = 1;
        }
    }
}

// Only the nodes of the current level, from a queue: work in proportion to the frontier, paid with atomics. The
// compare-and-swap makes sure that a node is queued once.
__global__ void bfs_queue(const int *row, const int *edge, int *level, int depth, const int *queue, int count,
                          int *next, int *next_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int v = queue[i];
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = edge[e];
        if (atomicCAS(&level[w], UNREACHED, depth + 1) == UNREACHED)
            next[atomicAdd(next_count, 1)] = w;
    }
}

struct Problem {
    int n;
    int *start, *expected;                      // levels before and after
    int *row, *edge, *level, *queue[2], *word;  // device; word: the changed flag or the count of the next queue
};

typedef void LevelKernel(const int *row, const int *edge, int *level, int depth, int *changed, int n);

static int blocks_for(int threads) { return (threads + BLOCK - 1) / BLOCK; }

static int read_word(const Problem *p) {
    int word;
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&word, p->word, sizeof word, cudaMemcpyDeviceToHost));
    return word;
}

static void launch_levels(LevelKernel *kernel, Problem *p, int threads) {
    int depth = 0;
    do {
        CUDA_CHECK(cudaMemset(p->word, 0, sizeof(int)));
        kernel<<<blocks_for(threads), BLOCK>>>(p->row, p->edge, p->level, depth++, p->word, p->n);
    } while (read_word(p));
}

static void launch_node(Problem *p) { launch_levels(bfs_node, p, p->n); }
static void launch_warp(Problem *p) { launch_levels(bfs_warp, p, p->n * WARP); }

static void launch_queue(Problem *p) {
    int count = 1;  // node 0 is in queue[0], see reset()
    for (int depth = 0; count > 0; depth++) {
        CUDA_CHECK(cudaMemset(p->word, 0, sizeof(int)));
        bfs_queue<<<blocks_for(count), BLOCK>>>(p->row, p->edge, p->level, depth, p->queue[depth % 2], count,
                                                p->queue[(depth + 1) % 2], p->word);
        count = read_word(p);
    }
}

static void search_on_cpu(const int *row, const int *edge, int *level, int n) {
    int *queue = host_array<int>(n), head = 0, tail = 1;  // queue[0] is node 0
    while (head < tail) {
        int v = queue[head++];
        for (int e = row[v]; e < row[v + 1]; e++)
            if (level[edge[e]] == UNREACHED) {
                level[edge[e]] = level[v] + 1;
                queue[tail++] = edge[e];
            }
    }
    free(queue);
}

static Problem *create(int n) {
    Problem *p = host_array<Problem>(1);
    p->n = n;
    int *row = host_array<int>(n + 1);
    unsigned state = 1;
    for (int v = 0; v < n; v++)
        row[v + 1] = row[v] + (v % HUB_EVERY == HUB_EVERY - 1 ? HUB_EDGES : 1 + (int)lcg_next(&state, FEW_EDGES));
    int *edge = host_array<int>(row[n]);
    lcg_fill(edge, row[n], 2, n);  // directed; some nodes stay unreached
    p->start = host_array<int>(n);
    p->expected = host_array<int>(n);
    for (int v = 0; v < n; v++)
        p->start[v] = p->expected[v] = v == 0 ? 0 : UNREACHED;
    search_on_cpu(row, edge, p->expected, n);
    p->row = device_copy_of(row, n + 1);
    p->edge = device_copy_of(edge, row[n]);
    p->level = device_array<int>(n);
    p->queue[0] = device_array<int>(n);
    p->queue[1] = device_array<int>(n);
    p->word = device_array<int>(1);
    free(row);
    free(edge);
    return p;
}

static void reset(Problem *p) {
    CUDA_CHECK(cudaMemcpy(p->level, p->start, p->n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(p->queue[0], 0, sizeof(int)));
}

static bool check(const Problem *p, Failure *f) { return compare_exact(f, "level", p->expected, p->level, p->n); }

static void destroy(Problem *p) {
    int *arrays[] = {p->row, p->edge, p->level, p->queue[0], p->queue[1], p->word};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        CUDA_CHECK(cudaFree(arrays[i]));
    free(p->start);
    free(p->expected);
    free(p);
}

static const Variant variants[] = {
    {"node", launch_node, 1, "a node per thread: unbalanced, uncoalesced"},
    {"warp", launch_warp, 1, "a node per warp: balanced, idle lanes"},
    {"queue", launch_queue, 1, "a queue of the frontier: little work, atomics"},
};

static const Example example = {
    "bfs",  "nodes",                  // name, what --n counts
    4096,   1,       1 << 20, false,  // default, smallest, largest, powers of two only
    create, reset,   check,   destroy, variants, sizeof variants / sizeof variants[0],
};

int main(int argc, char **argv) { return example_main(&example, argc, argv); }
