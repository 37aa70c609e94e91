// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a CTA's sum by shuffles instead of by a tree in shared memory.
// Why: each step of the tree has a barrier, and half of the threads of the step before.
// Post: Faster Parallel Reductions on Kepler
#include "../common.h"

enum { THREADS = 512, MOST_BLOCKS = 1024 };

#ifdef AFTER
__device__ int warp_reduce_sum(int val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(~0u, val, offset);
    return val;
}

__device__ int block_sum(int val) {
    __shared__ int shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    val = warp_reduce_sum(val);
    if (lane == 0)
        shared[wid] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
    if (wid == 0)
        val = warp_reduce_sum(val);
    return val;
}
#else
__device__ int block_sum(int val) {
    __shared__ int shared[THREADS];
    shared[threadIdx.x] = val;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    return shared[0];
}
#endif

__global__ void device_reduce(const int *in, int *out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "block_reduce_sum");
    int n = p.small ? 1 << 17 : 1 << 22, blocks = std::min((n + THREADS - 1) / THREADS, (int)MOST_BLOCKS);
    std::vector<int> in(n);
    lcg_fill(in.data(), n, 1, 100);
    int *d_in = device_copy_of(in.data(), n), *d_out = device_array<int>(MOST_BLOCKS), *d_sum = device_array<int>(1);
    pair_time(&p, [&] {
        device_reduce<<<blocks, THREADS>>>(d_in, d_out, n);
        device_reduce<<<1, THREADS>>>(d_out, d_sum, blocks);
    });
    device_reduce<<<blocks, THREADS>>>(d_in, d_out, n);
    double expected = 0, got = 0;
    for (int v : in)
        expected += v;
    for (int v : host_copy_of(d_out, blocks))
        got += v;
    pair_near(&p, "sum", 0, expected, got, 0);
    return pair_end(&p);
}
