// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: lanes with the same cell add up before one of them does the atomic.
// Why: neighbouring particles are mostly in the same cell.
// Post: Voting and Shuffling to Optimize Atomic Operations
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
__device__ unsigned get_peers(int my_key) {
    unsigned peers, unclaimed = 0xffffffff;
    bool is_peer;
    do {
        is_peer = my_key == __shfl_sync(unclaimed, my_key, __ffs(unclaimed) - 1);
        peers = __ballot_sync(unclaimed, is_peer);
        unclaimed ^= peers;
    } while (!is_peer);
    return peers;
}

__device__ void add_peers(float *dest, float x, unsigned peers) {
    int lane = threadIdx.x & 31, first = __ffs(peers) - 1, rel_pos = __popc(peers & ((1u << lane) - 1));
    peers &= 0xfffffffe << lane;
    while (__any_sync(0xffffffff, peers)) {
        int next = __ffs(peers);
        float t = __shfl_sync(0xffffffff, x, next - 1);
        if (next)
            x += t;
        bool done = rel_pos & 1;
        peers &= __ballot_sync(0xffffffff, !done);
        rel_pos >>= 1;
    }
    if (lane == first)
        atomicAdd(dest, x);
}
#endif

__global__ void charges_of_cells(const int *cell, const float *charge, float *sums) {
    int i = blockIdx.x * BLOCK + threadIdx.x, c = cell[i];
#ifdef AFTER
    add_peers(&sums[c], charge[i], get_peers(c));
#else
    atomicAdd(&sums[c], charge[i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peers_atomics");
    int n = p.small ? 1 << 15 : 1 << 23, cells = n / 64;
    std::vector<int> cell(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++)
        cell[i] = std::min(cells - 1, i / 64 + (lcg_next(&seed, 8) == 0 ? 1 : 0));
    std::vector<float> charge = random_floats(n, 0, 1, 2);
    int *d_cell = device_copy_of(cell.data(), n);
    float *d_charge = device_copy_of(charge.data(), n), *d_sums = device_array<float>(cells);
    CUDA_CHECK(cudaMemset(d_sums, 0, cells * sizeof(float)));
    pair_time(&p, [&] { charges_of_cells<<<n / BLOCK, BLOCK>>>(d_cell, d_charge, d_sums); });
    CUDA_CHECK(cudaMemset(d_sums, 0, cells * sizeof(float)));
    charges_of_cells<<<n / BLOCK, BLOCK>>>(d_cell, d_charge, d_sums);
    std::vector<double> expected(cells);
    for (int i = 0; i < n; i++)
        expected[cell[i]] += charge[i];
    std::vector<float> sums = host_copy_of(d_sums, cells);
    for (int c = 0; c < cells; c += 101)
        pair_near(&p, "sums", c, expected[c], sums[c], 1e-4);
    return pair_end(&p);
}
