// SPDX-License-Identifier: Apache-2.0
// Fences: cycles of one with nothing under way, behind a store, behind stores of many lines; with how many warps of an SM
// at once; whether lines that the SM has loaded are still in its L1 behind it. Loads that acquire, stores that release.
#include "micro.h"

enum { TURNS = 64, LINES = 8 };
enum Fence { NOTHING, CTA_ACQ_REL, GPU_ACQ_REL, SYS_ACQ_REL, CTA_SC, GPU_SC, SYS_SC, THREADFENCE_BLOCK, THREADFENCE, THREADFENCE_SYSTEM, FENCES };
static const char *const names[] = {"nothing", "acq_rel.cta", "acq_rel.gpu", "acq_rel.sys", "sc.cta", "sc.gpu",
                                    "sc.sys",  "threadfence_block", "threadfence", "threadfence_system"};

template <int WHAT> __device__ static inline void fence(void) {
    if (WHAT == CTA_ACQ_REL) asm volatile("fence.acq_rel.cta;" ::: "memory");
    if (WHAT == GPU_ACQ_REL) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (WHAT == SYS_ACQ_REL) asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (WHAT == CTA_SC) asm volatile("fence.sc.cta;" ::: "memory");
    if (WHAT == GPU_SC) asm volatile("fence.sc.gpu;" ::: "memory");
    if (WHAT == SYS_SC) asm volatile("fence.sc.sys;" ::: "memory");
    if (WHAT == THREADFENCE_BLOCK) __threadfence_block();
    if (WHAT == THREADFENCE) __threadfence();
    if (WHAT == THREADFENCE_SYSTEM) __threadfence_system();
}

// A turn: `stores` lines stored, a fence.
template <int WHAT> __global__ void turns(unsigned *memory, int stores, int count, i64 *cycles) {
    unsigned *mine = memory + (blockIdx.x * blockDim.x + threadIdx.x / 32 * 32) * LINES + threadIdx.x % 32;
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
#pragma unroll 1
        for (int k = 0; k < stores; k++) asm volatile("st.global.u32 [%0], %1;" ::"l"(mine + k * 32), "r"(i) : "memory");
        fence<WHAT>();
    }
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

// A line is loaded, a fence, the line is loaded again: cycles of the second load.
template <int WHAT> __global__ void again(const unsigned *memory, int count, i64 *cycles) {
    const unsigned *line = memory + threadIdx.x;
    unsigned value, sum = 0;
    i64 total = 0;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        sum += value;
        if (sum == 12345) break;
        fence<WHAT>();
        i64 begin = now();
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        sum += value;
        if (sum == 12345) break;
        total += now() - begin;
    }
    if (threadIdx.x == 0) cycles[0] = total, cycles[1] = sum;
}

// --- accesses with an order of their own
enum Access { LOAD, LOAD_RELAXED, LOAD_ACQUIRE, LOAD_ACQUIRE_CTA, STORE, STORE_RELEASE, STORE_RELEASE_CTA, ADD, ADD_ACQ_REL, ADD_RELEASE, ADD_ACQUIRE, ACCESSES };
static const char *const accesses[] = {"ld", "ld.relaxed.gpu", "ld.acquire.gpu", "ld.acquire.cta", "st", "st.release.gpu", "st.release.cta",
                                       "atom.relaxed.gpu", "atom.acq_rel.gpu", "atom.release.gpu", "atom.acquire.gpu"};
template <int WHAT> __global__ void ordered(unsigned *memory, int count, i64 *cycles) {
    unsigned *line = memory + threadIdx.x * 32, value = 0, sum = 0;
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        if (WHAT == LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == LOAD_RELAXED) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == LOAD_ACQUIRE) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == LOAD_ACQUIRE_CTA) asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == STORE) asm volatile("st.global.u32 [%0], %1;" ::"l"(line), "r"(0) : "memory");
        if (WHAT == STORE_RELEASE) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(line), "r"(0) : "memory");
        if (WHAT == STORE_RELEASE_CTA) asm volatile("st.release.cta.global.u32 [%0], %1;" ::"l"(line), "r"(0) : "memory");
        if (WHAT == ADD) asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == ADD_ACQ_REL) asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == ADD_RELEASE) asm volatile("atom.release.gpu.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(line + sum) : "memory");
        if (WHAT == ADD_ACQUIRE) asm volatile("atom.acquire.gpu.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(line + sum) : "memory");
        sum += value;
    }
    i64 end = now();
    if (threadIdx.x == 0) cycles[0] = end - begin, cycles[1] = sum;
}

// ----------------------------------------------------------------------------------------------------------------------
static unsigned *memory;

template <int WHAT> static void measure_turns(int ctas, int warps, int stores) {
    i64 *cycles = cycles_buffer(), base;
    char name[96];
    for (int round = 0; round < 2; round++) turns<WHAT><<<ctas, warps * 32>>>(memory, stores, 16, cycles);
    base = cycles_read(cycles, 0);
    turns<WHAT><<<ctas, warps * 32>>>(memory, stores, 16 + TURNS, cycles);
    sprintf(name, "fence/%s/%d_ctas/%d_warps/%d_stores", names[WHAT], ctas, warps, stores);
    report(name, (double)(cycles_read(cycles, 0) - base) / TURNS, "cycles", "a turn");
}
template <int WHAT> static void measure(void) {
    i64 *cycles = cycles_buffer(), base;
    char name[96];
    for (int warps : {1, 4, 32})
        for (int stores : {0, 1, 8}) measure_turns<WHAT>(1, warps, stores);
    measure_turns<WHAT>(132, 4, 0), measure_turns<WHAT>(132, 4, 1), measure_turns<WHAT>(132 * 4, 16, 1);
    for (int round = 0; round < 2; round++) again<WHAT><<<1, 32>>>(memory, 16, cycles);
    base = cycles_read(cycles, 0);
    again<WHAT><<<1, 32>>>(memory, 16 + TURNS, cycles);
    sprintf(name, "loaded_again/%s", names[WHAT]);
    report(name, (double)(cycles_read(cycles, 0) - base) / TURNS, "cycles", "the second load");
}
template <int WHAT> static void measure_access(void) {
    i64 *cycles = cycles_buffer(), base;
    char name[96];
    for (int threads : {1, 32}) {
        for (int round = 0; round < 2; round++) ordered<WHAT><<<1, threads>>>(memory, 16, cycles);
        base = cycles_read(cycles, 0);
        ordered<WHAT><<<1, threads>>>(memory, 16 + TURNS, cycles);
        sprintf(name, "access/%s/%d_lanes", accesses[WHAT], threads);
        report(name, (double)(cycles_read(cycles, 0) - base) / TURNS, "cycles", "one after the other");
    }
}

int main() {
    CHECK(cudaMalloc(&memory, 64 << 20));
    CHECK(cudaMemset(memory, 0, 64 << 20));
    measure<NOTHING>(), measure<CTA_ACQ_REL>(), measure<GPU_ACQ_REL>(), measure<SYS_ACQ_REL>(), measure<CTA_SC>();
    measure<GPU_SC>(), measure<SYS_SC>(), measure<THREADFENCE_BLOCK>(), measure<THREADFENCE>(), measure<THREADFENCE_SYSTEM>();
    CHECK(cudaMemset(memory, 0, 64 << 20));
    measure_access<LOAD>(), measure_access<LOAD_RELAXED>(), measure_access<LOAD_ACQUIRE>(), measure_access<LOAD_ACQUIRE_CTA>();
    measure_access<STORE>(), measure_access<STORE_RELEASE>(), measure_access<STORE_RELEASE_CTA>(), measure_access<ADD>();
    measure_access<ADD_ACQ_REL>(), measure_access<ADD_RELEASE>(), measure_access<ADD_ACQUIRE>();
    return 0;
}
