// SPDX-License-Identifier: Apache-2.0
// Barriers with accesses to shared memory around them: cycles of a turn by what it does, S a store, L a load, B a
// barrier, F four dependent f32 that use what was loaded last, and by warps of the CTA.
#include "micro.h"

enum { TURNS = 64 };
template <char step> __device__ __forceinline__ void one(unsigned at, float &x, float &y) {
    if (step == 'S') asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
    if (step == 'L') asm volatile("ld.shared.f32 %0, [%1+4];" : "=f"(y) : "r"(at) : "memory");
    if (step == 'B') asm volatile("bar.sync 0;" ::: "memory");
    if (step == 'F')
        asm volatile("fma.rn.f32 %0, %1, %1, %0; fma.rn.f32 %0, %0, %0, %0; fma.rn.f32 %0, %0, %0, %0; fma.rn.f32 %0, %0, %0, %0;"
                     : "+f"(x) : "f"(y) : "memory");
}
template <char... steps> __global__ void turns(int count, i64 *cycles, float *sink) {
    __shared__ float words[2048];
    unsigned at = (unsigned)__cvta_generic_to_shared(words) + threadIdx.x * 4;
    float x = (float)threadIdx.x, y = 1;
    words[threadIdx.x] = x;
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) (one<steps>(at, x, y), ...);
    }
    i64 end = now();
    if (x == 123.0f) *sink = x;
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}

static float *sink;
template <char... steps> static void measure() {
    static const char text[] = {steps..., 0};
    for (int warps : {1, 4, 8, 32}) {
        i64 *cycles = cycles_buffer(), low, high, base;
        char name[64];
        turns<steps...><<<1, warps * 32>>>(TURNS, cycles, sink);
        turns<steps...><<<1, warps * 32>>>(TURNS, cycles, sink);
        cycles_range(cycles, warps, &low, &base);
        turns<steps...><<<1, warps * 32>>>(5 * TURNS, cycles, sink);
        cycles_range(cycles, warps, &low, &high);
        sprintf(name, "barriers/%s/%d_warps", text, warps);
        report(name, (double)(high - base) / (4 * TURNS), "cycles", "a turn");
    }
}

int main() {
    CHECK(cudaMalloc(&sink, 4));
    measure<'B'>(), measure<'F'>(), measure<'S', 'F'>(), measure<'L', 'F'>(), measure<'S', 'L', 'F'>(), measure<'B', 'F'>();
    measure<'S', 'B', 'F'>(), measure<'S', 'B', 'L', 'F'>(), measure<'L', 'B', 'F'>(), measure<'L', 'B', 'S', 'B', 'F'>();
    measure<'S', 'B', 'L', 'B', 'F'>(), measure<'S', 'S', 'S', 'S', 'B', 'F'>(), measure<'L', 'F', 'B'>(), measure<'F', 'S', 'B', 'B'>(), measure<'B', 'B'>();
    return 0;
}
