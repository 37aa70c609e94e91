// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: one unused word follows every 32 words of the samples in shared memory.
// Why: the threads walk through runs of 16 samples, so that the lanes of a warp use two of the banks at a time.
#include "../common.h"

enum { BLOCK = 256, RUN = 16, SAMPLES = BLOCK * RUN };

__device__ inline int slot(int sample) {
#ifdef AFTER
    return sample + sample / 32;
#else
    return sample;
#endif
}

// From the sand that falls through an hourglass in each instant to the sand that has fallen by then; an hourglass per
// block. Also when the sand fell fastest, smoothed over a run.
__global__ void fallen(const float *falling, float *total, float *fastest) {
    __shared__ float sand[SAMPLES + SAMPLES / 32], of_warp[BLOCK / 32], most[BLOCK / 32];
    const float *from = falling + (size_t)blockIdx.x * SAMPLES;
    float *to = total + (size_t)blockIdx.x * SAMPLES;
    int first = threadIdx.x * RUN, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < SAMPLES; i += BLOCK)
        sand[slot(i)] = from[i];
    __syncthreads();
    float run = 0;
    for (int k = 0; k < RUN; k++)
        run += sand[slot(first + k)];
    float upto = run, high = run;
    for (int gap = 1; gap < 32; gap *= 2) {
        float other = __shfl_up_sync(~0u, upto, gap);
        if (lane >= gap)
            upto += other;
        high = fmaxf(high, __shfl_xor_sync(~0u, high, gap));
    }
    if (lane == 31)
        of_warp[warp] = upto;
    if (lane == 0)
        most[warp] = high;
    __syncthreads();
    float level = upto - run;
    for (int w = 0; w < warp; w++)
        level += of_warp[w];
    for (int k = 0; k < RUN; k++) {
        level += sand[slot(first + k)];
        sand[slot(first + k)] = level;
    }
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            high = fmaxf(high, most[w]);
        fastest[blockIdx.x] = high / RUN;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SAMPLES; i += BLOCK)
        to[i] = sand[slot(i)];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hourglass");
    int glasses = p.small ? 1 : 132 * 40;
    size_t n = (size_t)glasses * SAMPLES;
    std::vector<float> falling = random_floats(n, 0, 0.1f, 1);
    float *d_falling = device_copy_of(falling.data(), n), *d_total = device_array<float>(n),
          *d_fastest = device_array<float>(glasses);
    pair_time(&p, [&] { fallen<<<glasses, BLOCK>>>(d_falling, d_total, d_fastest); });
    std::vector<float> total = host_copy_of(d_total, n), fastest = host_copy_of(d_fastest, glasses);
    for (int g = 0; g < glasses; g += 13) {
        double level = 0, high = 0;
        for (int r = 0; r < SAMPLES; r += RUN) {
            double run = 0;
            for (int k = 0; k < RUN; k++) {
                size_t at = (size_t)g * SAMPLES + r + k;
                run += falling[at];
                level += falling[at];
                pair_near(&p, "total", at, level, total[at], 1e-4);
            }
            high = std::max(high, run / RUN);
        }
        pair_near(&p, "fastest", g, high, fastest[g], 1e-5);
    }
    return pair_end(&p);
}
