// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the days is unrolled 16 times.
// Why: a fund's loads are waited for a few days at a time, and there are not warps enough to fill the time.
#include "../common.h"

enum { BLOCK = 128, DAYS = 1024 };

// What one unit became in each fund, and how far it was ever below its best.
__global__ void compound_returns(const float *change, float *value, float *worst, int funds) {
    int f = blockIdx.x * BLOCK + threadIdx.x;
    float worth = 1, best = 1, fall = 0;
#ifdef AFTER
#pragma unroll 16
#endif
    for (int day = 0; day < DAYS; day++) {
        worth += worth * change[day * funds + f];
        best = fmaxf(best, worth);
        fall = fmaxf(fall, best - worth);
    }
    value[f] = worth;
    worst[f] = fall;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "compound_returns");
    int funds = p.small ? 1 << 10 : 1 << 15;
    std::vector<float> change = random_floats((size_t)funds * DAYS, -0.01f, 0.01f, 1);
    float *d_change = device_copy_of(change.data(), change.size()), *d_value = device_array<float>(funds),
          *d_worst = device_array<float>(funds);
    pair_time(&p, [&] { compound_returns<<<funds / BLOCK, BLOCK>>>(d_change, d_value, d_worst, funds); });
    std::vector<float> value = host_copy_of(d_value, funds), worst = host_copy_of(d_worst, funds);
    for (int f = 0; f < funds; f += 61) {
        double worth = 1, best = 1, fall = 0;
        for (int day = 0; day < DAYS; day++) {
            worth += worth * change[(size_t)day * funds + f];
            best = std::max(best, worth);
            fall = std::max(fall, best - worth);
        }
        pair_near(&p, "value", f, worth, value[f], 1e-3);
        pair_near(&p, "worst", f, fall, worst[f], 1e-3);
    }
    return pair_end(&p);
}
