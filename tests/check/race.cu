// SPDX-License-Identifier: Apache-2.0
// Planted races on shared memory. //! NAME marks the line of the later access, //! NAME.other the earlier one's.
#include <cuda_runtime.h>

extern "C" __global__ void missing_barrier(const int *in, int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = in[threadIdx.x];  //! missing_barrier.other
    out[threadIdx.x] = s[127 - threadIdx.x];  //! missing_barrier
}
extern "C" __global__ void missing_second_barrier(int *out, int n) {
    __shared__ int s[128];
    for (int i = 0; i < n; i++) {
        s[threadIdx.x] = i + threadIdx.x;  //! missing_second_barrier.other
        __syncthreads();
        out[threadIdx.x] += s[(threadIdx.x + 64) & 127];  //! missing_second_barrier
    }
}
extern "C" __global__ void write_write(int *out) {
    __shared__ int s[64];
    s[threadIdx.x & 63] = threadIdx.x;  //! write_write
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x & 63];
}
extern "C" __global__ void same_instruction(int *out) {
    __shared__ int s[16];
    s[threadIdx.x & 15] = threadIdx.x;  //! same_instruction
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x & 15];
}
extern "C" __global__ void reduction_without_barrier(const int *in, int *out) {
    __shared__ int s[256];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1)
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];  //! reduction_without_barrier
    if (threadIdx.x == 0) *out = s[0];
}
extern "C" __global__ void scan_in_place(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = 1;
    __syncthreads();
    for (int k = 1; k < 128; k <<= 1) {
        int left = threadIdx.x >= k ? s[threadIdx.x - k] : 0;  //! scan_in_place.other
        s[threadIdx.x] += left;  //! scan_in_place
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void histogram_unsynced(const int *in, int *out) {
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] & 31], 1);  //! histogram_unsynced.other
    if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];  //! histogram_unsynced
}
extern "C" __global__ void histogram_uncleared(const int *in, int *out) {
    __shared__ int bins[32];
    if (threadIdx.x >= 96) bins[threadIdx.x - 96] = 0;  //! histogram_uncleared.other
    atomicAdd(&bins[in[threadIdx.x] & 31], 1);  //! histogram_uncleared
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void wrong_named_barrier(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x;  //! wrong_named_barrier.other
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x - 64];  //! wrong_named_barrier
    }
}
extern "C" __global__ void flag_without_fence(int *out) {
    __shared__ int data, ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[0];  //! flag_without_fence.other
        atomicAdd(&ready, 1);
    }
    if (threadIdx.x == 32) {
        while (atomicAdd(&ready, 0) == 0) {}
        out[0] = data;  //! flag_without_fence
    }
}
extern "C" __global__ void async_without_wait(const int *in, int *out) {
    __shared__ int s[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");  //! async_without_wait.other
    asm volatile("cp.async.commit_group;");
    out[threadIdx.x] = s[threadIdx.x];  //! async_without_wait
}
extern "C" __global__ void async_wait_too_weak(const int *in, int *out) {
    __shared__ int s[2][64];
    for (int k = 0; k < 2; k++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[k][threadIdx.x]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + 64 * k + threadIdx.x) : "memory");  //! async_wait_too_weak.other
        asm volatile("cp.async.commit_group;");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[0][threadIdx.x] + s[1][threadIdx.x];  //! async_wait_too_weak
}
extern "C" __global__ void async_no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x) : "memory");  //! async_no_barrier.other
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];  //! async_no_barrier
}
extern "C" __global__ void mbarrier_not_published(int *out) {
    __shared__ __align__(8) unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");  //! mbarrier_not_published.other
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");  //! mbarrier_not_published
    out[threadIdx.x] = 1;
}
extern "C" __global__ void consumer_skips_wait(int *out) {
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int s[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x;  //! consumer_skips_wait.other
        asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");
    } else {
        out[threadIdx.x] = s[threadIdx.x - 32];  //! consumer_skips_wait
    }
}
extern "C" __global__ void within_warp(int *out) {
    __shared__ int s[32];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = out[threadIdx.x] * 3;  //! within_warp.other
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x] = 2;
    }
    out[threadIdx.x] += s[threadIdx.x ^ 16];  //! within_warp
}
extern "C" __global__ void bytes_race(int *out) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = threadIdx.x;  //! bytes_race.other
    out[threadIdx.x] = s[(threadIdx.x + 32) & 63];  //! bytes_race
}
