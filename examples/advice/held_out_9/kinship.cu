// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: rows of the triangle are dealt to the blocks in turn.
// Why: blocks with the first rows have many times the work of those with the last.
#include "../common.h"

enum { BLOCK = 128, BLOCKS = 528, MARKS = 16 };

// How alike each is to all who come after.
__global__ void kinship(const unsigned *marks, unsigned *out, int n) {
    __shared__ unsigned sums[BLOCK / 32];
    int each = (n + BLOCKS - 1) / BLOCKS;
    for (int k = 0; k < each; k++) {
#ifdef AFTER
        int row = k * BLOCKS + blockIdx.x;
#else
        int row = blockIdx.x * each + k;
#endif
        if (row >= n)
            break;
        unsigned alike = 0;
        for (int other = row + 1 + threadIdx.x; other < n; other += BLOCK)
            for (int m = 0; m < MARKS; m++)
                alike += __popc(~(marks[m * n + row] ^ marks[m * n + other]));
        alike = __reduce_add_sync(~0u, alike);
        if (threadIdx.x % 32 == 0)
            sums[threadIdx.x / 32] = alike;
        __syncthreads();
        if (threadIdx.x == 0)
            out[row] = sums[0] + sums[1] + sums[2] + sums[3];
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kinship");
    int n = p.small ? 1056 : 8448;
    std::vector<unsigned> marks((size_t)n * MARKS);
    unsigned seed = 1;
    for (unsigned &m : marks)
        m = (unsigned)lcg_next(&seed, 1 << 16) << 16 | (unsigned)lcg_next(&seed, 1 << 16);
    unsigned *d_marks = device_copy_of(marks.data(), marks.size()), *d_out = device_array<unsigned>(n);
    pair_time(&p, [&] { kinship<<<BLOCKS, BLOCK>>>(d_marks, d_out, n); });
    std::vector<unsigned> out = host_copy_of(d_out, n);
    for (int row = 0; row < n; row += 211) {
        unsigned alike = 0;
        for (int other = row + 1; other < n; other++)
            for (int m = 0; m < MARKS; m++)
                alike += (unsigned)__builtin_popcount(~(marks[(size_t)m * n + row] ^ marks[(size_t)m * n + other]));
        pair_near(&p, "alike", row, alike, out[row], 0);
    }
    return pair_end(&p);
}
