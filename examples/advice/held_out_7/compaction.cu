// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the places of the elements that are kept come from ballots and eight counts, no longer from one thread.
// Why: one thread adds up 256 flags while the others wait at the barrier.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32 };

// The elements of each CTA's part that are above a threshold, close together, and how many they are.
__global__ void compaction(const float *in, float *out, int *counts, float threshold) {
    int t = threadIdx.x;
    float x = in[blockIdx.x * BLOCK + t];
#ifdef AFTER
    __shared__ int kept[WARPS];
    unsigned mask = __ballot_sync(~0u, x > threshold);
    if (t % 32 == 0)
        kept[t / 32] = __popc(mask);
    __syncthreads();
    int place = __popc(mask & ((1u << t % 32) - 1)), total = 0;
    for (int w = 0; w < WARPS; w++) {
        place += w < t / 32 ? kept[w] : 0;
        total += kept[w];
    }
    if (t == 0)
        counts[blockIdx.x] = total;
#else
    __shared__ int places[BLOCK];
    places[t] = x > threshold;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            int flag = places[i];
            places[i] = sum;
            sum += flag;
        }
        counts[blockIdx.x] = sum;
    }
    __syncthreads();
    int place = places[t];
#endif
    if (x > threshold)
        out[blockIdx.x * BLOCK + place] = x;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "compaction");
    int n = p.small ? 1 << 16 : 1 << 24, blocks = n / BLOCK;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    int *d_counts = device_array<int>(blocks);
    pair_time(&p, [&] { compaction<<<blocks, BLOCK>>>(d_in, d_out, d_counts, 0.6f); });
    std::vector<float> out = host_copy_of(d_out, n);
    std::vector<int> counts = host_copy_of(d_counts, blocks);
    for (int b = 0; b < blocks; b += 7) {
        int count = 0;
        for (int i = b * BLOCK; i < (b + 1) * BLOCK; i++)
            if (in[i] > 0.6f) {
                pair_near(&p, "out", b * BLOCK + count, in[i], out[b * BLOCK + count], 0);
                count++;
            }
        pair_near(&p, "count", b, count, counts[b], 0);
    }
    return pair_end(&p);
}
