// SPDX-License-Identifier: Apache-2.0
// What a warpgroup reads from shared memory (wgmma): planted errors and a correct hand-over. Blocks of 160 threads: a
// warpgroup that multiplies, and one warp more.
// arch: sm_90a
#include <cuda_fp16.h>

__device__ unsigned long long descriptor(const void *at) {  // no swizzling, matrices of 8 x 8 behind each other
    unsigned long long address = __cvta_generic_to_shared(at);
    return (address & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
}
__device__ void fence() { asm volatile("fence.proxy.async;\nwgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void complete() {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#define MULTIPLY(d, b)                                                                                                 \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                        \
                 : "r"(0x3c003c00u), "l"(descriptor(b))                                                                  \
                 : "memory")

extern "C" __global__ void wgmma_unsynced(float *out) {
    __shared__ __align__(128) __half b[128];
    float d[4] = {};
    b[threadIdx.x] = __float2half(1);  //! wgmma_unsynced_write
    fence();
    MULTIPLY(d, b);  //! wgmma_unsynced
    complete();
    out[threadIdx.x] = d[0];
}
extern "C" __global__ void wgmma_half_filled(float *out) {
    __shared__ __align__(128) __half b[128];
    float d[4] = {};
    if (threadIdx.x < 64) b[threadIdx.x] = __float2half(1);
    __syncthreads();
    fence();
    MULTIPLY(d, b);  //! wgmma_half_filled
    complete();
    out[threadIdx.x] = d[0] == 0;
}
extern "C" __global__ void wgmma_outside(float *out) {
    extern __shared__ __align__(128) __half tile[];
    float d[4] = {};
    tile[threadIdx.x] = __float2half(1);
    __syncthreads();
    fence();
    MULTIPLY(d, tile + 64);  //! wgmma_outside
    complete();
    out[threadIdx.x] = d[0];
}
// Another warp writes the tile again and asks nobody.
extern "C" __global__ void wgmma_overwritten(float *out) {
    __shared__ __align__(128) __half b[128];
    float d[4] = {};
    if (threadIdx.x < 128) b[threadIdx.x] = __float2half(1);
    __syncthreads();
    if (threadIdx.x >= 128) {
        b[threadIdx.x - 128] = __float2half(2);  //! wgmma_overwritten_write
        return;
    }
    fence();
    MULTIPLY(d, b);  //! wgmma_overwritten
    complete();
    out[threadIdx.x] = d[0];
}
extern "C" __global__ void wgmma_both_shared(float *out) {
    __shared__ __align__(128) __half a[64 * 16], b[128];
    float d[4] = {};
    for (int i = 0; i < 1024; i += 256) ((__half2 *)(a + i))[threadIdx.x] = __float2half2_rn(1);
    b[threadIdx.x] = __float2half(1);
    __syncthreads();
    fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor(a)), "l"(descriptor(b))
                 : "memory");
    complete();
    out[threadIdx.x] = d[0];
}
// One thread says for its warpgroup that the tile may be written again: it has waited for what all four warps read.
extern "C" __global__ void wgmma_handed_over(float *out) {
    __shared__ __align__(128) __half b[128];
    __shared__ volatile int free_again;
    float d[4] = {};
    if (threadIdx.x < 128) b[threadIdx.x] = __float2half(1);
    if (threadIdx.x == 0) free_again = 0;
    __syncthreads();
    if (threadIdx.x >= 128) {
        while (!free_again) continue;
        for (int i = threadIdx.x - 128; i < 128; i += 32) b[i] = __float2half(100);
        return;
    }
    if (threadIdx.x >= 32)
        for (int i = 0; i < 30000; i++) asm volatile("");  // these warps are late
    fence();
    MULTIPLY(d, b);
    complete();
    if (threadIdx.x == 0) free_again = 1;
    out[threadIdx.x] = d[0];
}
