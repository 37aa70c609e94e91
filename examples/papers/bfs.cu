// SPDX-License-Identifier: Apache-2.0
//
// AerialVision, section III-C, figure 10: breadth-first search after Harish and Narayanan, level by level, a thread for
// each node of a random graph of 65,536 nodes. A launch of bfs_expand and one of bfs_commit are a level.
struct Node {
    int first, degree;
};

__global__ void bfs_begin(bool *frontier, bool *visited, int *cost) {
    frontier[0] = visited[0] = true;
    cost[0] = 0;
}

__global__ void bfs_expand(const Node *nodes, const int *edges, bool *frontier, bool *next, const bool *visited,
                           int *cost, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !frontier[node])
        return;
    frontier[node] = false;
    for (int i = nodes[node].first; i < nodes[node].first + nodes[node].degree; i++) {
        int neighbour = edges[i];
        if (!visited[neighbour]) {
            cost[neighbour] = cost[node] + 1;
            next[neighbour] = true;
        }
    }
}

__global__ void bfs_commit(bool *frontier, bool *next, bool *visited, int *more, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !next[node])
        return;
    frontier[node] = true;
    visited[node] = true;
    *more = 1;
    next[node] = false;
}
