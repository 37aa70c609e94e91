// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: an empty word is left after every 32 in the array that is summed.
// Why: the strides of the tree of partial sums are powers of two, so that the threads of a warp meet in one bank.
#include "../common.h"

enum { SLOTS = 2048, BLOCK = SLOTS / 2 };

#ifdef AFTER
#define AT(i) ((i) + (i) / 32)
#else
#define AT(i) (i)
#endif

// How full an escalator gets: from who steps on in each second, through running sums, to who stands on it at a time;
// one block per escalator.
__global__ void crowding(const int *arrivals, int *fullest, int *crowded, int ride, int limit) {
    __shared__ int sums[AT(SLOTS) + 1];
    __shared__ int most, seconds;
    int t = threadIdx.x;
    const int *from = arrivals + (size_t)blockIdx.x * SLOTS;
    sums[AT(t)] = from[t];
    sums[AT(t + BLOCK)] = from[t + BLOCK];
    if (t == 0)
        most = seconds = 0;
    int stride = 1;
    for (int active = BLOCK; active > 0; active >>= 1) {  // up the tree
        __syncthreads();
        if (t < active) {
            int left = stride * (2 * t + 1) - 1, right = left + stride;
            sums[AT(right)] += sums[AT(left)];
        }
        stride *= 2;
    }
    __syncthreads();
    if (t == 0) {
        sums[AT(SLOTS)] = sums[AT(SLOTS - 1)];
        sums[AT(SLOTS - 1)] = 0;
    }
    for (int active = 1; active <= BLOCK; active *= 2) {  // and down again
        stride /= 2;
        __syncthreads();
        if (t < active) {
            int left = stride * (2 * t + 1) - 1, right = left + stride;
            int sum = sums[AT(left)];
            sums[AT(left)] = sums[AT(right)];
            sums[AT(right)] += sum;
        }
    }
    __syncthreads();
    int own_most = 0, own_seconds = 0;
    for (int i = t; i < SLOTS; i += BLOCK) {  // sums[i]: all before second i
        int first = max(i + 1 - ride, 0);
        int on_it = sums[AT(i + 1)] - sums[AT(first)];
        own_most = max(own_most, on_it);
        own_seconds += on_it > limit;
    }
    for (int gap = 16; gap; gap >>= 1) {
        own_most = max(own_most, __shfl_xor_sync(~0u, own_most, gap));
        own_seconds += __shfl_xor_sync(~0u, own_seconds, gap);
    }
    if (t % 32 == 0) {
        atomicMax(&most, own_most);
        atomicAdd(&seconds, own_seconds);
    }
    __syncthreads();
    if (t == 0) {
        fullest[blockIdx.x] = most;
        crowded[blockIdx.x] = seconds;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "escalators");
    int escalators = p.small ? 1 : 132 * 40, ride = 35, limit = 50;
    std::vector<int> arrivals((size_t)escalators * SLOTS);
    lcg_fill(arrivals.data(), arrivals.size(), 1, 4);
    int *d_arrivals = device_copy_of(arrivals.data(), arrivals.size()), *d_fullest = device_array<int>(escalators),
        *d_crowded = device_array<int>(escalators);
    pair_time(&p, [&] { crowding<<<escalators, BLOCK>>>(d_arrivals, d_fullest, d_crowded, ride, limit); });
    std::vector<int> fullest = host_copy_of(d_fullest, escalators), crowded = host_copy_of(d_crowded, escalators);
    for (int e = 0; e < escalators; e++) {
        int on_it = 0, most = 0, seconds = 0;
        for (int i = 0; i < SLOTS; i++) {
            on_it += arrivals[(size_t)e * SLOTS + i] - (i >= ride ? arrivals[(size_t)e * SLOTS + i - ride] : 0);
            most = std::max(most, on_it);
            seconds += on_it > limit;
        }
        pair_near(&p, "fullest", e, most, fullest[e], 1e-9);
        pair_near(&p, "crowded", e, seconds, crowded[e], 1e-9);
    }
    return pair_end(&p);
}
