// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a launch asks for the shared memory of the window that is used, not of the longest one.
// Why: with 250 days for each share only three blocks fit on an SM, and six warps cannot hide how long loads take.
#include "../common.h"

enum { BLOCK = 64, LONGEST = 250 };

// Where the return of each day stands among those of the last `window` days, for all shares: a thread is a share.
__global__ void rolling_rank(const float *returns, float *ranks, int shares, int days, int window) {
    extern __shared__ float kept[];
    int i = blockIdx.x * BLOCK + threadIdx.x, oldest = 0;
    for (int k = 0; k < window; k++)
        kept[k * BLOCK + threadIdx.x] = 0;
    for (int day = 0; day < days; day++) {
        float today = returns[day * shares + i];
        int below = 0;
        for (int k = 0; k < window; k++)
            below += kept[k * BLOCK + threadIdx.x] < today;
        kept[oldest * BLOCK + threadIdx.x] = today;
        oldest = oldest + 1 == window ? 0 : oldest + 1;
        ranks[day * shares + i] = (float)below / (float)window;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rolling_rank");
    int shares = p.small ? 512 : 1 << 17, days = p.small ? 32 : 128, window = 21;
    std::vector<float> returns = random_floats((size_t)shares * days, -0.05f, 0.05f, 1);
    float *d_returns = device_copy_of(returns.data(), returns.size()), *d_ranks = device_array<float>(returns.size());
#ifdef AFTER
    size_t shared = window * BLOCK * sizeof(float);
#else
    size_t shared = LONGEST * BLOCK * sizeof(float);
#endif
    CUDA_CHECK(cudaFuncSetAttribute(rolling_rank, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    LONGEST * BLOCK * (int)sizeof(float)));
    pair_time(&p, [&] { rolling_rank<<<shares / BLOCK, BLOCK, shared>>>(d_returns, d_ranks, shares, days, window); });
    std::vector<float> ranks = host_copy_of(d_ranks, returns.size());
    for (int i = 0; i < shares; i += 211)
        for (int day = 0; day < days; day++) {
            float today = returns[(size_t)day * shares + i];
            int below = 0;
            for (int k = 1; k <= window; k++)
                below += (day < k ? 0 : returns[(size_t)(day - k) * shares + i]) < today;
            pair_near(&p, "rank", (size_t)day * shares + i, (double)below / window, ranks[(size_t)day * shares + i],
                      1e-6);
        }
    return pair_end(&p);
}
