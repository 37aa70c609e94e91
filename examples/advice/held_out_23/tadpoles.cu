// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the rows of the triangle are dealt to the blocks in turn, not in runs of neighbours.
// Why: row i is compared with the rows behind it only; the block that has the first rows, one on each SM, has twice the
// mean work, the last one has nearly none, and its SM idles.
#include "../common.h"

enum { WARPS = 32, MARKERS = 256 };

// How many of the tadpoles behind it in the catch are related to each tadpole, and how near its next of kin is: in how
// many of 256 genetic markers they differ. A warp takes one tadpole at a time.
__global__ void __launch_bounds__(32 * WARPS) relate(const uint4 *low, const uint4 *high, int *nearest, int *related,
                                                     int count, int rows, int limit) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = warp; k < rows; k += WARPS) {
#ifdef AFTER
        int i = k * gridDim.x + blockIdx.x;
#else
        int i = blockIdx.x * rows + k;
#endif
        uint4 a = low[i], b = high[i];
        int best = MARKERS, kin = 0;
        for (int j = i + 1 + lane; j < count; j += 32) {
            uint4 c = low[j], d = high[j];
            int apart = __popc(a.x ^ c.x) + __popc(a.y ^ c.y) + __popc(a.z ^ c.z) + __popc(a.w ^ c.w) +
                        __popc(b.x ^ d.x) + __popc(b.y ^ d.y) + __popc(b.z ^ d.z) + __popc(b.w ^ d.w);
            best = min(best, apart);
            kin += apart < limit;
        }
        for (int step = 16; step > 0; step /= 2) {
            best = min(best, __shfl_down_sync(0xffffffffu, best, step));
            kin += __shfl_down_sync(0xffffffffu, kin, step);
        }
        if (lane == 0) {
            nearest[i] = best;
            related[i] = kin;
        }
    }
}

static int differ(uint4 a, uint4 b) {
    return __builtin_popcount(a.x ^ b.x) + __builtin_popcount(a.y ^ b.y) + __builtin_popcount(a.z ^ b.z) +
           __builtin_popcount(a.w ^ b.w);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tadpoles");
    int blocks = p.small ? 4 : 132, rows = p.small ? 64 : 128, n = blocks * rows, limit = 112;
    unsigned seed = 1;
    std::vector<uint4> low(n), high(n);
    auto draw = [&] {
        unsigned upper = lcg_next(&seed, 1 << 16);
        return upper << 16 | lcg_next(&seed, 1 << 16);
    };
    for (int i = 0; i < n; i++) {
        low[i].x = draw(), low[i].y = draw(), low[i].z = draw(), low[i].w = draw();
        high[i].x = draw(), high[i].y = draw(), high[i].z = draw(), high[i].w = draw();
    }
    uint4 *d_low = device_copy_of(low.data(), n), *d_high = device_copy_of(high.data(), n);
    int *d_nearest = device_array<int>(n), *d_related = device_array<int>(n);
    pair_time(&p,
              [&] { relate<<<blocks, 32 * WARPS>>>(d_low, d_high, d_nearest, d_related, n, rows, limit); });
    std::vector<int> nearest = host_copy_of(d_nearest, n), related = host_copy_of(d_related, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        int best = MARKERS, kin = 0;
        for (int j = i + 1; j < n; j++) {
            int apart = differ(low[i], low[j]) + differ(high[i], high[j]);
            best = std::min(best, apart);
            kin += apart < limit;
        }
        pair_near(&p, "nearest", i, best, nearest[i], 0);
        pair_near(&p, "related", i, kin, related[i], 0);
    }
    return pair_end(&p);
}
