// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Also: occupancy-up
// Change: a crate is graded by 256 threads instead of 32.
// Why: a block keeps its crate in 12 KB of shared memory, so that an SM holds few blocks; of one warp each, few warps.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

enum { CRATE = 2048 };

__device__ static float block_sum(float value) {
    __shared__ float parts[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(~0u, value, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < BLOCK / 32; w++)
        sum += parts[w];
    return sum;
}

// Crates of cherries, weighed one by one in 1/100 g and with their sugar in 1/10 %: mean and spread of the sugar by
// weight, and how many cherries are sweeter than the mean by more than a spread. One block per crate.
__global__ void grade(const unsigned short *weights, const unsigned char *sugars, float *means, float *spreads,
                      int *sweet) {
    __shared__ unsigned short weight[CRATE];
    __shared__ float sugar[CRATE];
    size_t base = (size_t)blockIdx.x * CRATE;
    float total = 0, sum = 0, squares = 0;
    for (int k = threadIdx.x; k < CRATE; k += BLOCK) {
        unsigned w = weights[base + k];
        float s = 0.1f * sugars[base + k];
        weight[k] = (unsigned short)w;
        sugar[k] = s;
        total += w;
        sum += w * s;
    }
    total = block_sum(total);
    float mean = __fdividef(block_sum(sum), total);
    for (int k = threadIdx.x; k < CRATE; k += BLOCK) {
        float off = sugar[k] - mean;
        squares += weight[k] * off * off;
    }
    float spread = sqrtf(__fdividef(block_sum(squares), total)), count = 0;
    for (int k = threadIdx.x; k < CRATE; k += BLOCK)
        count += sugar[k] > mean + spread;
    count = block_sum(count);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        spreads[blockIdx.x] = spread;
        sweet[blockIdx.x] = (int)count;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cherries");
    int crates = p.small ? 6 : 132 * 64;
    size_t n = (size_t)crates * CRATE;
    std::vector<unsigned short> weights(n);
    std::vector<unsigned char> sugars(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned r = lcg_next(&seed, 1 << 24);
        weights[i] = (unsigned short)(500 + r % 700);
        sugars[i] = (unsigned char)(80 + r / 1024 % 150);
    }
    unsigned short *d_weights = device_copy_of(weights.data(), n);
    unsigned char *d_sugars = device_copy_of(sugars.data(), n);
    float *d_means = device_array<float>(crates), *d_spreads = device_array<float>(crates);
    int *d_sweet = device_array<int>(crates);
    pair_time(&p, [&] { grade<<<crates, BLOCK>>>(d_weights, d_sugars, d_means, d_spreads, d_sweet); });
    std::vector<float> means = host_copy_of(d_means, crates), spreads = host_copy_of(d_spreads, crates);
    std::vector<int> sweet = host_copy_of(d_sweet, crates);
    for (int c = 0; c < crates; c += p.small ? 1 : 13) {
        double total = 0, sum = 0, squares = 0;
        int count = 0;
        for (size_t i = (size_t)c * CRATE; i < (size_t)(c + 1) * CRATE; i++) {
            total += weights[i];
            sum += 0.1 * weights[i] * sugars[i];
        }
        double mean = sum / total;
        for (size_t i = (size_t)c * CRATE; i < (size_t)(c + 1) * CRATE; i++)
            squares += weights[i] * (0.1 * sugars[i] - mean) * (0.1 * sugars[i] - mean);
        double spread = sqrt(squares / total);
        for (size_t i = (size_t)c * CRATE; i < (size_t)(c + 1) * CRATE; i++)
            count += 0.1 * sugars[i] > mean + spread;
        pair_near(&p, "mean", c, mean, means[c], 1e-4);
        pair_near(&p, "spread", c, spread, spreads[c], 1e-3);
        pair_near(&p, "sweet", c, count, sweet[c], 5e-2);
    }
    return pair_end(&p);
}
