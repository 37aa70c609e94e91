// SPDX-License-Identifier: Apache-2.0
// Loads that hit the L1, independent ones of a warp in a turn, whose results are used before the next turn.
#ifndef WL_BENCH_MICRO_L1_LOADS_H
#define WL_BENCH_MICRO_L1_LOADS_H

#include "micro.h"

constexpr int TURNS = 128, FOOTPRINT = 16 << 10;

template <int BYTES> __device__ static inline unsigned load(const char *at) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (BYTES == 4) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(at) : "memory");
    if (BYTES == 8) asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory");
    if (BYTES == 16)
        asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "l"(at)
                     : "memory");
    return a + b + c + d;
}

__device__ static inline unsigned warm_up(const char *data) {
    unsigned sum = 0;
    for (int i = threadIdx.x * 4; i < FOOTPRINT; i += blockDim.x * 4) sum += load<4>(data + i);
    return sum;
}

// `COUNT` loads a turn, `STEP` bytes from each other, as is one turn from the next, so that none can be taken out of
// it; `p`: the lane's. Afterwards report_reads.
template <int BYTES, int COUNT, int STEP>
__device__ static inline void read_turns(const char *p, unsigned sum, i64 *cycles, unsigned *out) {
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned v[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = load<BYTES>(p + (turn % 16 + k) * STEP);
#pragma unroll
        for (int k = 0; k < COUNT; k++) sum += v[k];
    }
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// Cycles of the SM for a load of a warp.
static inline void report_reads(const char *name, const i64 *cycles, int count, int warps) {
    report(name, (double)cycles_read(cycles, 0) / (TURNS * count * warps), "cycles/warp load", "");
}

#endif
