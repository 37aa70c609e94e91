// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the hours are dealt out to the blocks in turn; before, each block took a range of consecutive hours.
// Why: a late hour has more doses before it than an early one, so the multiprocessor with the last range works twice
// as long as the mean, and the one with the first range is done at once.
#include "../common.h"

enum { WARPS = 16, BLOCK = WARPS * 32, DAY = 24 };

struct Level {
    float all, today;  // in the blood, and the part of it that was taken during the last day
};

__device__ inline float warp_sum(float value) {
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}

// Level of a vitamin in the blood at each hour: every dose so far, times the part of it that is kept after the hours
// since; and the same for the doses of the last day. One warp per hour, `each` hours per block; one block per
// multiprocessor.
__global__ void blood_levels(const float *dose, const float *kept, Level *level, int each) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = warp; k < each; k += WARPS) {
#ifdef AFTER
        int hour = k * gridDim.x + blockIdx.x;
#else
        int hour = blockIdx.x * each + k;
#endif
        float sum = 0, today = 0;
        for (int s = lane; s <= hour; s += 32)
            sum += dose[s] * kept[hour - s];
        if (lane < DAY && lane <= hour)
            today = dose[hour - lane] * kept[lane];
        sum = warp_sum(sum);
        today = warp_sum(today);
        if (lane == 0) {
            level[hour].all = sum;
            level[hour].today = today;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vitamins");
    int blocks = p.small ? 8 : 132, each = p.small ? 32 : 192, hours = blocks * each;
    std::vector<float> dose = random_floats(hours, -40, 80, 1), kept(hours);
    for (int h = 0; h < hours; h++) {
        dose[h] = std::max(0.0f, dose[h]);                                  // on a third of the hours none
        kept[h] = (float)(0.7 * exp(-h / 180.0) + 0.3 * exp(-h / 4000.0));  // two compartments
    }
    float *d_dose = device_copy_of(dose.data(), hours), *d_kept = device_copy_of(kept.data(), hours);
    Level *d_level = device_array<Level>(hours);
    pair_time(&p, [&] { blood_levels<<<blocks, BLOCK>>>(d_dose, d_kept, d_level, each); });
    std::vector<Level> level = host_copy_of(d_level, hours);
    for (int h = 0; h < hours; h += p.small ? 1 : 97) {
        double all = 0, today = 0;
        for (int s = 0; s <= h; s++) {
            double left = (double)dose[s] * kept[h - s];
            all += left;
            if (h - s < DAY)
                today += left;
        }
        pair_near(&p, "all", h, all, level[h].all, 1e-4);
        pair_near(&p, "today", h, today, level[h].today, 1e-4);
    }
    return pair_end(&p);
}
