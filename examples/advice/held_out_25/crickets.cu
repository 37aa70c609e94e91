// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counts of the levels and the loud samples, which are never needed together, share one piece of memory.
// Why: shared memory limits how many blocks are on an SM, too few to cover the waiting at barriers and for atomics.
#include "../common.h"

enum { BLOCK = 128, SAMPLES = 4096, LEVELS = 4096, EVERY = 16, FIRST_LAG = 40, LOUD = SAMPLES / 8 };

#ifdef AFTER
union Scratch {
#else
struct Scratch {
#endif
    int counts[LEVELS];
    int loud[SAMPLES];
};

static __host__ __device__ inline int level_of(short sample) {
    return (sample < 0 ? -sample : sample) >> 3;
}

// How loud the loudest eighth of a clip is, and after how many samples the chirps come again; one block per clip.
__global__ void __launch_bounds__(BLOCK) chirps(const short *clips, int *limits, int *periods) {
    __shared__ Scratch scratch;
    __shared__ int sums[BLOCK], limit;
    __shared__ long long best_of_warp[BLOCK / 32];
    int t = threadIdx.x;
    const short *clip = clips + (size_t)blockIdx.x * SAMPLES;

    for (int i = t; i < LEVELS; i += BLOCK)
        scratch.counts[i] = 0;
    __syncthreads();
    for (int i = t; i < SAMPLES; i += BLOCK)
        atomicAdd(&scratch.counts[min(level_of(clip[i]), LEVELS - 1)], 1);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < LEVELS / BLOCK; k++)
        sum += scratch.counts[t * (LEVELS / BLOCK) + (k + t) % (LEVELS / BLOCK)];
    sums[t] = sum;
    __syncthreads();
    if (t == 0) {
        int left = LOUD, part = BLOCK - 1;
        while (part > 0 && left > sums[part])
            left -= sums[part--];
        int level = (part + 1) * (LEVELS / BLOCK) - 1;
        while (level > 0 && left > scratch.counts[level])
            left -= scratch.counts[level--];
        limit = level;
    }
    __syncthreads();

    for (int i = t; i < SAMPLES; i += BLOCK)
        scratch.loud[i] = max(level_of(clip[i]) - limit, 0);
    __syncthreads();
    long long likeness = 0;
    for (int i = 0; i + FIRST_LAG + BLOCK <= SAMPLES; i += EVERY)
        likeness += (long long)scratch.loud[i] * scratch.loud[i + FIRST_LAG + t];
    long long best = likeness * BLOCK + (BLOCK - 1 - t);  // of equal ones the shortest
    for (int gap = 16; gap; gap >>= 1)
        best = max(best, __shfl_xor_sync(~0u, best, gap));
    if (t % 32 == 0)
        best_of_warp[t / 32] = best;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            best = max(best, best_of_warp[w]);
        limits[blockIdx.x] = limit;
        periods[blockIdx.x] = FIRST_LAG + BLOCK - 1 - (int)(best % BLOCK);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crickets");
    int clips = p.small ? 3 : 132 * 64;
    std::vector<short> samples((size_t)clips * SAMPLES);
    unsigned seed = 5;
    for (int c = 0; c < clips; c++)
        for (int i = 0, period = FIRST_LAG + 3 + c % 97; i < SAMPLES; i++) {
            int sample = (int)lcg_next(&seed, 8192) - 4096;
            samples[(size_t)c * SAMPLES + i] = (short)(i % period < period / 6 ? 4 * sample : sample);
        }
    short *d_samples = device_copy_of(samples.data(), samples.size());
    int *d_limits = device_array<int>(clips), *d_periods = device_array<int>(clips);
    pair_time(&p, [&] { chirps<<<clips, BLOCK>>>(d_samples, d_limits, d_periods); });
    std::vector<int> limits = host_copy_of(d_limits, clips), periods = host_copy_of(d_periods, clips);
    for (int c = 0; c < clips; c += p.small ? 1 : 41) {
        std::vector<int> levels(SAMPLES);
        for (int i = 0; i < SAMPLES; i++)
            levels[i] = level_of(samples[(size_t)c * SAMPLES + i]);
        std::vector<int> sorted = levels;
        std::sort(sorted.begin(), sorted.end());
        int limit = sorted[SAMPLES - LOUD], period = 0;
        long long best = -1;
        for (int lag = FIRST_LAG; lag < FIRST_LAG + BLOCK; lag++) {
            long long likeness = 0;
            for (int i = 0; i + FIRST_LAG + BLOCK <= SAMPLES; i += EVERY)
                likeness += (long long)std::max(levels[i] - limit, 0) * std::max(levels[i + lag] - limit, 0);
            if (likeness > best) {
                best = likeness;
                period = lag;
            }
        }
        pair_near(&p, "limit", c, limit, limits[c], 1e-9);
        pair_near(&p, "period", c, period, periods[c], 1e-9);
    }
    return pair_end(&p);
}
