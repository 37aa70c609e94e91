// SPDX-License-Identifier: Apache-2.0
//
// Rule: lock-contention
// Change: each block widens the box by atomic minima and maxima of its corners, no longer under a lock.
// Why: blocks take the lock one after the other, with fences and round trips to the L2 while they hold it.
#include "common.h"

#include <float.h>

enum { BLOCK = 256, POINTS = 4 };

struct Box {
    float low[2], high[2];
};

#ifdef AFTER
// Floats of 0 and more have the order of their bits.
__device__ static void widen(Box *box, int *, const float *low, const float *high) {
    for (int k = 0; k < 2; k++) {
        atomicMin((int *)&box->low[k], __float_as_int(low[k]));
        atomicMax((int *)&box->high[k], __float_as_int(high[k]));
    }
}

#else
__device__ static void widen(volatile Box *box, int *lock, const float *low, const float *high) {
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    for (int k = 0; k < 2; k++) {
        if (low[k] < box->low[k])
            box->low[k] = low[k];
        if (high[k] > box->high[k])
            box->high[k] = high[k];
    }
    __threadfence();
    atomicExch(lock, 0);
}
#endif

__global__ void map_extent(const float2 *point, Box *box, int *lock, int n) {
    __shared__ float part[4][BLOCK / 32];
    float low[2] = {FLT_MAX, FLT_MAX}, high[2] = {0, 0};
    for (int k = 0; k < POINTS; k++) {
        int i = (blockIdx.x * POINTS + k) * BLOCK + threadIdx.x;
        if (i >= n)
            break;
        float2 p = point[i];
        low[0] = fminf(low[0], p.x), low[1] = fminf(low[1], p.y);
        high[0] = fmaxf(high[0], p.x), high[1] = fmaxf(high[1], p.y);
    }
    for (int d = 16; d > 0; d /= 2)
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], __shfl_down_sync(~0u, low[k], d));
            high[k] = fmaxf(high[k], __shfl_down_sync(~0u, high[k], d));
        }
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        part[0][warp] = low[0], part[1][warp] = low[1];
        part[2][warp] = high[0], part[3][warp] = high[1];
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int w = 1; w < BLOCK / 32; w++)
        for (int k = 0; k < 2; k++) {
            low[k] = fminf(low[k], part[k][w]);
            high[k] = fmaxf(high[k], part[2 + k][w]);
        }
    widen(box, lock, low, high);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "map_extent");
    int n = p.small ? 1 << 18 : 1 << 21;
    std::vector<float> point = random_floats(2 * (size_t)n, 0.25f, 8, 5);
    float2 *d_point = (float2 *)device_copy_of(point.data(), point.size());
    Box none = {{FLT_MAX, FLT_MAX}, {0, 0}}, box = none;
    Box *d_none = device_copy_of(&none, 1), *d_box = device_array<Box>(1);
    int *d_lock = device_array<int>(1);
    CUDA_CHECK(cudaMemset(d_lock, 0, sizeof(int)));
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemcpyAsync(d_box, d_none, sizeof(Box), cudaMemcpyDeviceToDevice));
        map_extent<<<(n + BLOCK * POINTS - 1) / (BLOCK * POINTS), BLOCK>>>(d_point, d_box, d_lock, n);
    });
    Box got = host_copy_of(d_box, 1)[0];
    for (size_t i = 0; i < (size_t)n; i++)
        for (int k = 0; k < 2; k++) {
            box.low[k] = fminf(box.low[k], point[2 * i + k]);
            box.high[k] = fmaxf(box.high[k], point[2 * i + k]);
        }
    for (int k = 0; k < 2; k++) {
        pair_near(&p, "low", k, box.low[k], got.low[k], 0);
        pair_near(&p, "high", k, box.high[k], got.high[k], 0);
    }
    return pair_end(&p);
}
