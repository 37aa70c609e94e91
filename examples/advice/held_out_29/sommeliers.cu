// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the wines are dealt to the blocks in turn instead of as one stretch per block.
// Why: the first wines are compared with all the others and the last ones with few, so the first blocks end late.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32 };

// Do two sommeliers agree? For every wine: of how many later wines one says better and the other says worse (from
// which Kendall's tau follows). A warp takes one wine after another.
__global__ void sommeliers(const float *first, const float *second, int *quarrels, int wines, int per_block) {
    int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < per_block; r += WARPS) {
#ifdef AFTER
        int i = r * gridDim.x + blockIdx.x;
#else
        int i = blockIdx.x * per_block + r;
#endif
        if (i >= wines)
            break;
        float mine = first[i], yours = second[i];
        int count = 0;
        for (int j = i + 1 + lane; j < wines; j += 32)
            count += (first[j] - mine) * (second[j] - yours) < 0;
        for (int d = 16; d; d /= 2)
            count += __shfl_down_sync(~0u, count, d);
        if (lane == 0)
            quarrels[i] = count;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sommeliers");
    int wines = p.small ? 700 : 24000, blocks = p.small ? 11 : 264;
    std::vector<float> first = random_floats(wines, 60, 100, 1), second = random_floats(wines, 0, 20, 2);
    for (int i = 0; i < wines; i++)
        second[i] = 0.5f * second[i] + 0.25f * (first[i] - 60);
    float *d_first = device_copy_of(first.data(), wines), *d_second = device_copy_of(second.data(), wines);
    int *d_quarrels = device_array<int>(wines), per_block = (wines + blocks - 1) / blocks;
    pair_time(&p, [&] { sommeliers<<<blocks, BLOCK>>>(d_first, d_second, d_quarrels, wines, per_block); });
    std::vector<int> quarrels = host_copy_of(d_quarrels, wines);
    for (int i = 0; i < wines; i += p.small ? 3 : 41) {
        int count = 0;
        for (int j = i + 1; j < wines; j++)
            count += (first[j] - first[i]) * (second[j] - second[i]) < 0;
        pair_near(&p, "quarrels", i, count, quarrels[i], 0);
    }
    return pair_end(&p);
}
