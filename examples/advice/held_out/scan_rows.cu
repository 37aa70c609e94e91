// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a word is left free after every 32 words of the array in shared memory.
// Why: the tree's strides are powers of two, so that at its upper levels all lanes meet in few banks.
#include "../common.h"

enum { BLOCK = 256, ROW = 2 * BLOCK };

#ifdef AFTER
#define PLACE(i) ((i) + ((i) >> 5))
#else
#define PLACE(i) (i)
#endif

// Exclusive sums along rows of 512 numbers (Blelloch's up and down sweep).
__global__ void scan_rows(const int *in, int *out) {
    __shared__ int tree[ROW + ROW / 32];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * ROW;
    tree[PLACE(t)] = in[row + t];
    tree[PLACE(t + BLOCK)] = in[row + t + BLOCK];
    int step = 1;
    for (int nodes = BLOCK; nodes > 0; nodes >>= 1, step <<= 1) {
        __syncthreads();
        if (t < nodes)
            tree[PLACE(step * (2 * t + 2) - 1)] += tree[PLACE(step * (2 * t + 1) - 1)];
    }
    if (t == 0)
        tree[PLACE(ROW - 1)] = 0;
    for (int nodes = 1; nodes <= BLOCK; nodes <<= 1) {
        step >>= 1;
        __syncthreads();
        if (t < nodes) {
            int left = PLACE(step * (2 * t + 1) - 1), right = PLACE(step * (2 * t + 2) - 1), sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    out[row + t] = tree[PLACE(t)];
    out[row + t + BLOCK] = tree[PLACE(t + BLOCK)];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "scan_rows");
    int rows = p.small ? 264 : 1 << 15;
    size_t n = (size_t)rows * ROW;
    std::vector<int> in(n);
    lcg_fill(in.data(), n, 1, 100);
    int *d_in = device_copy_of(in.data(), n), *d_out = device_array<int>(n);
    pair_time(&p, [&] { scan_rows<<<rows, BLOCK>>>(d_in, d_out); });
    std::vector<int> out = host_copy_of(d_out, n);
    for (int r = 0; r < rows; r += 3)
        for (int i = 0, sum = 0; i < ROW; sum += in[(size_t)r * ROW + i], i++)
            pair_near(&p, "sum", (size_t)r * ROW + i, sum, out[(size_t)r * ROW + i], 0);
    return pair_end(&p);
}
