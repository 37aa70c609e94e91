// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Also: warp-balance
// Change: the threads that take part in a step of the tree are the first ones instead of every second, fourth, ...
// Why: all warps go through all steps, each with fewer and fewer lanes.
#include "../common.h"

enum { BLOCK = 512 };

// Smallest value of each 512, by a tree in shared memory.
__global__ void block_minimum(const float *in, float *least) {
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = in[(size_t)blockIdx.x * BLOCK + t];
    __syncthreads();
#ifdef AFTER
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step)
            values[t] = fminf(values[t], values[t + step]);
        __syncthreads();
    }
#else
    for (int step = 1; step < BLOCK; step *= 2) {
        if (t % (2 * step) == 0)
            values[t] = fminf(values[t], values[t + step]);
        __syncthreads();
    }
#endif
    if (t == 0)
        least[blockIdx.x] = values[0];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "block_minimum");
    int blocks = p.small ? 600 : 1 << 16;
    std::vector<float> in = random_floats((size_t)blocks * BLOCK, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_least = device_array<float>(blocks);
    pair_time(&p, [&] { block_minimum<<<blocks, BLOCK>>>(d_in, d_least); });
    std::vector<float> least = host_copy_of(d_least, blocks);
    for (int b = 0; b < blocks; b += 37)
        pair_near(&p, "least", b, *std::min_element(&in[(size_t)b * BLOCK], &in[(size_t)b * BLOCK] + BLOCK), least[b],
                  0);
    return pair_end(&p);
}
