// SPDX-License-Identifier: Apache-2.0
// Planted misuse of barriers. //! NAME marks the line, //! NAME.other the other party's.
#include <cuda_runtime.h>

extern "C" __global__ void barrier_in_branch(int *out) {
    if (threadIdx.x % 32 < 16) {
        out[threadIdx.x] = 1;
        __syncthreads();  //! barrier_in_branch
    }
    out[threadIdx.x] += 2;
}
extern "C" __global__ void barriers_on_both_sides(int *out) {
    if (threadIdx.x % 2) {
        out[threadIdx.x] = 1;
        __syncthreads();  //! barriers_on_both_sides.a
        out[threadIdx.x] += 7;
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();  //! barriers_on_both_sides.b
        out[threadIdx.x] += 9;
    }
}
extern "C" __global__ void barrier_in_divergent_loop(int *out) {
    for (int i = 0; i < threadIdx.x % 4; i++) {
        out[threadIdx.x] += i;
        __syncthreads();  //! barrier_in_divergent_loop
    }
    out[threadIdx.x] += 2;
}
extern "C" __global__ void named_barrier_never_met(int *out) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");  //! named_barrier_never_met
    out[threadIdx.x] = 1;
    __syncthreads();  //! named_barrier_never_met.other
}
extern "C" __global__ void barrier_counts_differ(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");  //! barrier_counts_differ.other
    else
        asm volatile("bar.sync 1, 32;" ::: "memory");  //! barrier_counts_differ
    out[threadIdx.x] = 1;
}
extern "C" __global__ void barrier_count_odd(int *out, int n) {
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");  //! barrier_count_odd
    out[threadIdx.x] = 1;
}
extern "C" __global__ void mask_lacks_caller(int *out) {
    out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 0);  //! mask_lacks_caller
}
extern "C" __global__ void shuffle_in_branch(int *out) {
    int v = threadIdx.x;
    if (v < 16) {
        v += out[v];
        v = __shfl_sync(0xffffffff, v, 0);  //! shuffle_in_branch
    }
    out[threadIdx.x] = v;
}
extern "C" __global__ void syncwarp_in_branch(int *out) {
    if (threadIdx.x < 8) {
        out[threadIdx.x] = 4;
        __syncwarp();  //! syncwarp_in_branch
    }
    out[threadIdx.x] += 1;
}
extern "C" __global__ void mbarrier_uninitialised(int *out) {
    __shared__ __align__(8) unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");  //! mbarrier_uninitialised
    out[threadIdx.x] = 1;
}
extern "C" __global__ void mbarrier_too_many(int *out) {
    __shared__ __align__(8) unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 16;" ::"r"(at) : "memory");
    __syncwarp();
    asm volatile("{ .reg .b64 t; mbarrier.arrive.noComplete.shared.b64 t, [%0], 24; }" ::"r"(at) : "memory");  //! mbarrier_too_many
    out[threadIdx.x] = 1;
}
extern "C" __global__ void mbarrier_zero_count(int *out, int n) {
    __shared__ __align__(8) unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(n) : "memory");  //! mbarrier_zero_count
    out[threadIdx.x] = 1;
}
extern "C" __global__ void different_barriers(int *out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();  //! different_barriers.other
        out[threadIdx.x] += 3;
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();  //! different_barriers
        out[threadIdx.x] += 4;
    }
}
