// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: a block has 256 threads instead of 64.
// Why: there is one block per region, four of them on a multiprocessor; with two warps each there are too few loads
// under way.
// Also: occupancy-up
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 64 };
#endif

// How far the proverbs that a region uses are from the common ones: the Jensen-Shannon divergence of how often each
// phrase is heard (times the mean), and how many phrases are heard far more often than elsewhere.
__global__ void distances(const float *heard, const float *common, float *far_off, int *peculiar, int phrases) {
    __shared__ float sums[BLOCK / 32];
    __shared__ int counts[BLOCK / 32];
    const float *here = heard + (size_t)blockIdx.x * phrases;
    float sum = 0;
    int count = 0;
    for (int i = threadIdx.x; i < phrases; i += BLOCK) {
        float ours = here[i], theirs = common[i], middle = 0.5f * (ours + theirs);
        float log_middle = __log2f(middle);
        sum += ours * (__log2f(ours) - log_middle) + theirs * (__log2f(theirs) - log_middle);
        count += ours > 4.0f * theirs;
    }
    for (int gap = 16; gap; gap >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, gap);
        count += __shfl_xor_sync(~0u, count, gap);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++) {
            sum += sums[w];
            count += counts[w];
        }
        far_off[blockIdx.x] = 0.5f * sum / phrases;
        peculiar[blockIdx.x] = count;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "proverbs");
    int regions = p.small ? 2 : 528, phrases = p.small ? 2048 : 65536;
    std::vector<float> heard = random_floats((size_t)regions * phrases, 0.1f, 1.9f, 1),
                       common = random_floats(phrases, 0.2f, 1.8f, 2);
    float *d_heard = device_copy_of(heard.data(), heard.size()), *d_common = device_copy_of(common.data(), phrases),
          *d_far_off = device_array<float>(regions);
    int *d_peculiar = device_array<int>(regions);
    pair_time(&p, [&] { distances<<<regions, BLOCK>>>(d_heard, d_common, d_far_off, d_peculiar, phrases); });
    std::vector<float> far_off = host_copy_of(d_far_off, regions);
    std::vector<int> peculiar = host_copy_of(d_peculiar, regions);
    for (int r = 0; r < regions; r += p.small ? 1 : 48) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < phrases; i++) {
            double ours = heard[(size_t)r * phrases + i], theirs = common[i], middle = (ours + theirs) / 2;
            sum += ours * log2(ours / middle) + theirs * log2(theirs / middle);
            count += ours > 4 * theirs;
        }
        pair_near(&p, "distance", r, 0.5 * sum / phrases, far_off[r], 1e-4);
        pair_near(&p, "peculiar", r, count, peculiar[r], 0);
    }
    return pair_end(&p);
}
