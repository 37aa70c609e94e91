// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the blocks take the skaters in turn instead of a run of neighbours each.
// Why: the first skaters have the most others after them, so the first blocks compare long after the last are done.
#include "../common.h"

enum { THREADS = 1024 };

// Kendall's tau of two referees: pairs of skaters whom they put in the same order minus pairs whom they don't.
// Each block leaves its part of the sum.
__global__ void __launch_bounds__(THREADS)
    kendall(const float *first, const float *second, int skaters, int *parts) {
    int balance = 0;
#ifdef AFTER
    int one = blockIdx.x, end = skaters, step = gridDim.x;
#else
    int each = (skaters + gridDim.x - 1) / gridDim.x;
    int one = blockIdx.x * each, end = min(one + each, skaters), step = 1;
#endif
    while (one < end) {
        float mark1 = first[one], mark2 = second[one];
        for (int other = one + 1 + threadIdx.x; other < skaters; other += THREADS) {
            float both = (first[other] - mark1) * (second[other] - mark2);
            if (both > 0)
                balance++;
            else if (both < 0)
                balance--;
        }
        one += step;
    }

    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    balance = __reduce_add_sync(0xffffffff, balance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, balance);
    __syncthreads();
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "referees");
    int skaters = p.small ? 1500 : 36000, blocks;
    CUDA_CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));

    // Marks in steps of a quarter point, so there are ties; the second referee mostly agrees.
    std::vector<float> first(skaters), second(skaters);
    unsigned seed = 6;
    for (int s = 0; s < skaters; s++) {
        int merit = lcg_next(&seed, 200);
        first[s] = 0.25f * (merit + lcg_next(&seed, 30));
        second[s] = 0.25f * (merit + lcg_next(&seed, 50));
    }
    float *d_first = device_copy_of(first.data(), skaters), *d_second = device_copy_of(second.data(), skaters);
    int *d_parts = device_array<int>(blocks);

    pair_time(&p, [&] { kendall<<<blocks, THREADS>>>(d_first, d_second, skaters, d_parts); });

    long long got = 0, expected = 0;
    for (int part : host_copy_of(d_parts, blocks))
        got += part;
    for (int i = 0; i < skaters; i++) {
        int row = 0;
        for (int j = i + 1; j < skaters; j++) {
            float both = (first[j] - first[i]) * (second[j] - second[i]);
            row += (both > 0) - (both < 0);
        }
        expected += row;
    }
    pair_near(&p, "balance", 0, (double)expected, (double)got, 0);
    return pair_end(&p);
}
