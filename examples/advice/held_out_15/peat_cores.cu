// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a block takes the next core from a common counter instead of a run of neighbouring cores.
// Why: there is one block for each SM, and the archive has the cores in order of their depth.
#include "../common.h"

enum { BLOCK = 128 };

// One layer of a core in one of the resamples: how many sixteenths of a year it took to grow.
static __host__ __device__ unsigned layer_of(unsigned *state, unsigned thickness, unsigned previous) {
    *state = *state * 1664525u + 1013904223u;
    unsigned spread = *state >> 24, years = thickness * (128 + spread) >> 5;
    if (thickness == 0)  // nothing grew: a fire, or a drought as long as the layer before
        years = previous / 2 + (spread & 15);
    return years;
}

// The age at the foot of every core of peat: the mean of the resamples, one a thread, and the oldest of them.
__global__ void ages(const int *starts, const unsigned char *thicknesses, unsigned *means, unsigned *oldest, int cores,
                     int *counter) {
    __shared__ unsigned sums[BLOCK], tops[BLOCK];
#ifdef AFTER
    __shared__ int taken;
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(counter, 1);
        __syncthreads();
        int core = taken;
        if (core >= cores)
            break;
#else
    int run = (cores + gridDim.x - 1) / gridDim.x, first = blockIdx.x * run;
    for (int core = first; core < min(first + run, cores); core++) {
#endif
        unsigned state = core * 7919u + threadIdx.x, age = 0, years = 0;
        for (int layer = starts[core]; layer < starts[core + 1]; layer++) {
            years = layer_of(&state, thicknesses[layer], years);
            age += years;
        }
        sums[threadIdx.x] = tops[threadIdx.x] = age;
        __syncthreads();
        for (int half = BLOCK / 2; half; half /= 2) {
            if (threadIdx.x < half) {
                sums[threadIdx.x] += sums[threadIdx.x + half];
                tops[threadIdx.x] = max(tops[threadIdx.x], tops[threadIdx.x + half]);
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            means[core] = sums[0] / BLOCK;
            oldest[core] = tops[0];
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peat_cores");
    int blocks = p.small ? 8 : 132, cores = blocks * (p.small ? 4 : 12), longest = p.small ? 60 : 1200;
    std::vector<int> starts(1, 0);
    for (int core = 0; core < cores; core++)
        starts.push_back(starts.back() + 20 + (int)((long)longest * core / cores));
    std::vector<unsigned char> thicknesses(starts.back());
    lcg_fill(thicknesses.data(), thicknesses.size(), 1, 20);
    int *d_starts = device_copy_of(starts.data(), starts.size()), *d_counter = device_array<int>(1);
    unsigned char *d_thicknesses = device_copy_of(thicknesses.data(), thicknesses.size());
    unsigned *d_means = device_array<unsigned>(cores), *d_oldest = device_array<unsigned>(cores);
    pair_time(&p, [&] {
#ifdef AFTER
        CUDA_CHECK(cudaMemsetAsync(d_counter, 0, sizeof *d_counter));
#endif
        ages<<<blocks, BLOCK>>>(d_starts, d_thicknesses, d_means, d_oldest, cores, d_counter);
    });
    std::vector<unsigned> means = host_copy_of(d_means, cores), oldest = host_copy_of(d_oldest, cores);
    for (int core = 0; core < cores; core += 5) {
        unsigned sum = 0, top = 0;
        for (unsigned t = 0; t < BLOCK; t++) {
            unsigned state = core * 7919u + t, age = 0, years = 0;
            for (int layer = starts[core]; layer < starts[core + 1]; layer++) {
                years = layer_of(&state, thicknesses[layer], years);
                age += years;
            }
            sum += age;
            top = std::max(top, age);
        }
        pair_near(&p, "mean", core, sum / BLOCK, means[core], 0);
        pair_near(&p, "oldest", core, top, oldest[core], 0);
    }
    return pair_end(&p);
}
