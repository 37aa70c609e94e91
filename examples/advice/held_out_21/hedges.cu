// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the reach of the smoothing is known when compiling, so that its loop is unrolled altogether.
// Why: with a reach given at run time each of the few rounds pays for counting, addresses and the rest of the rounds.
#include "../common.h"

enum { BLOCK = 256, MOST_REACH = 15, REACH = 3 };

__constant__ float weights[2 * MOST_REACH + 1];

// A laser scanned the tops of hedges, one row per hedge: the smoothed profile, what sticks out over it, and how much
// there is to cut.
__global__ void trim(const float *heights, float *cuts, int *high_spots, int length, int given_reach, float allowed) {
#ifdef AFTER
    const int reach = REACH;
    (void)given_reach;
#else
    const int reach = given_reach;
#endif
    __shared__ float tile[BLOCK + 2 * MOST_REACH];
    const float *row = heights + (size_t)blockIdx.y * length;
    int first = blockIdx.x * BLOCK;
    for (int k = threadIdx.x; k < BLOCK + 2 * reach; k += BLOCK)
        tile[k] = row[min(max(first + k - reach, 0), length - 1)];
    __syncthreads();
    int x = first + threadIdx.x;
    float smooth = 0, low = 1e9f, high = -1e9f;
    for (int k = 0; k <= 2 * reach; k++) {
        float h = tile[threadIdx.x + k];
        smooth += weights[k] * h;
        low = fminf(low, h);
        high = fmaxf(high, h);
    }
    float sticks_out = tile[threadIdx.x + reach] - smooth - allowed * (high - low);
    if (x < length)
        cuts[(size_t)blockIdx.y * length + x] = fmaxf(0.0f, sticks_out);
    int spots = __syncthreads_count(x < length && sticks_out > 0);
    if (threadIdx.x == 0)
        high_spots[blockIdx.y * gridDim.x + blockIdx.x] = spots;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hedges");
    int hedges = p.small ? 3 : 1000, length = p.small ? 700 : 8000, across = (length + BLOCK - 1) / BLOCK;
    float w[2 * MOST_REACH + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f}, allowed = 0.1f;
    size_t count = (size_t)hedges * length;
    std::vector<float> heights = random_floats(count, 150, 180, 1);
    CUDA_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    float *d_heights = device_copy_of(heights.data(), count), *d_cuts = device_array<float>(count);
    int *d_spots = device_array<int>((size_t)hedges * across);
    pair_time(&p, [&] { trim<<<dim3(across, hedges), BLOCK>>>(d_heights, d_cuts, d_spots, length, REACH, allowed); });
    std::vector<float> cuts = host_copy_of(d_cuts, count);
    std::vector<int> spots = host_copy_of(d_spots, (size_t)hedges * across);
    for (int y = 0; y < hedges; y += p.small ? 1 : 41) {
        int got = 0, expected = 0;
        for (int x = 0; x < length; x++) {
            double smooth = 0, low = 1e9, high = -1e9;
            for (int k = -REACH; k <= REACH; k++) {
                double h = heights[(size_t)y * length + std::min(std::max(x + k, 0), length - 1)];
                smooth += w[k + REACH] * h;
                low = std::min(low, h);
                high = std::max(high, h);
            }
            double cut = std::max(0.0, heights[(size_t)y * length + x] - smooth - allowed * (high - low));
            pair_near(&p, "cut", (size_t)y * length + x, cut, cuts[(size_t)y * length + x], 1e-3);
            expected += cut > 0;
        }
        for (int b = 0; b < across; b++)
            got += spots[y * across + b];
        pair_near(&p, "high spots", y, expected, got, 2e-2);
    }
    return pair_end(&p);
}
