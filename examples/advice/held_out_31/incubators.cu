// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: shared memory is asked for by the length that the logs have, not by the longest that is allowed.
// Why: 32 KiB a block leave room for six blocks an SM, 24 of 64 warps, that often wait for memory or at a barrier.
#include "../common.h"

enum { BLOCK = 128, WARPS = BLOCK / 32, LONGEST = 8192 };

struct Shift {
    float size;  // the largest distance of the sums of deviations from zero
    int sample;  // where it is
};

// When the temperature of an incubator's log shifted, by the sums of the deviations from the log's mean.
__global__ void find_shifts(const float *logs, Shift *shifts, int samples) {
#ifdef AFTER
    extern __shared__ float log_here[];
#else
    __shared__ float log_here[LONGEST];
#endif
    __shared__ float of_warp[WARPS];
    __shared__ Shift best_of_warp[WARPS];
    const float *from = logs + (size_t)blockIdx.x * samples;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (int i = t; i < samples; i += BLOCK)
        log_here[i] = from[i];
    __syncthreads();

    int each = (samples + BLOCK - 1) / BLOCK, first = min(t * each, samples), last = min(first + each, samples);
    float sum = 0;
    for (int i = first; i < last; i++)
        sum += log_here[i];
    float upto = sum;  // and with the threads before
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(~0u, upto, d);
        if (lane >= d)
            upto += other;
    }
    if (lane == 31)
        of_warp[warp] = upto;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w < warp)
            upto += of_warp[w];
        total += of_warp[w];
    }
    float mean = total / samples, deviation = upto - sum - first * mean;

    Shift best = {-1, 0};
    for (int i = first; i < last; i++) {
        deviation += log_here[i] - mean;
        if (fabsf(deviation) > best.size)
            best = {fabsf(deviation), i};
    }
    for (int d = 16; d > 0; d /= 2) {
        Shift other = {__shfl_down_sync(~0u, best.size, d), __shfl_down_sync(~0u, best.sample, d)};
        if (other.size > best.size)
            best = other;
    }
    if (lane == 0)
        best_of_warp[warp] = best;
    __syncthreads();
    if (t)
        return;
    for (int w = 1; w < WARPS; w++)
        if (best_of_warp[w].size > best.size)
            best = best_of_warp[w];
    shifts[blockIdx.x] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "incubators");
    int count = p.small ? 40 : 70000, samples = p.small ? 900 : 1400;
    std::vector<float> logs = random_floats((size_t)count * samples, -0.5f, 0.5f, 2);
    unsigned seed = 12;
    for (int c = 0; c < count; c++) {
        int from = (int)lcg_next(&seed, samples);
        for (int i = from; i < samples; i++)
            logs[(size_t)c * samples + i] += 0.3f;
    }
    float *d_logs = device_copy_of(logs.data(), logs.size());
    Shift *d_shifts = device_array<Shift>(count);
#ifdef AFTER
    size_t shared = samples * sizeof(float);
#else
    size_t shared = 0;
#endif
    pair_time(&p, [&] { find_shifts<<<count, BLOCK, shared>>>(d_logs, d_shifts, samples); });
    std::vector<Shift> shifts = host_copy_of(d_shifts, count);
    for (int c = 0; c < count; c += p.small ? 1 : 29) {
        const float *log = &logs[(size_t)c * samples];
        double mean = 0, deviation = 0, most = 0, there = -1;
        for (int i = 0; i < samples; i++)
            mean += log[i] / (double)samples;
        for (int i = 0; i < samples; i++) {
            deviation += log[i] - mean;
            most = std::max(most, fabs(deviation));
            if (i == shifts[c].sample)
                there = fabs(deviation);
        }
        pair_near(&p, "size", c, most, shifts[c].size, 1e-3);
        pair_near(&p, "size at the sample", c, most, there, 1e-3);
    }
    return pair_end(&p);
}
