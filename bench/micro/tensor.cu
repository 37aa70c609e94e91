// SPDX-License-Identifier: Apache-2.0
// The tensor unit through mma.sync: latency of dependent products and throughput of independent ones; and branches that
// depend on what was just computed.
#include "micro.h"

enum { ROUNDS = 64 };

// One product of each kind on an accumulator of WORDS registers.
struct mma_f16 {
    typedef float Word;
    enum { WORDS = 4 };
    static __device__ void step(float *d, int a) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a));
    }
};
struct mma_tf32 {
    typedef float Word;
    enum { WORDS = 4 };
    static __device__ void step(float *d, int a) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a));
    }
};
struct mma_s8 {
    typedef int Word;
    enum { WORDS = 4 };
    static __device__ void step(int *d, int a) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a));
    }
};
struct mma_f64 {
    typedef double Word;
    enum { WORDS = 2 };
    static __device__ void step(double *d, double a) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a));
    }
};

template <typename Product, int CHAINS> __global__ void products(i64 *cycles, float *out, int a) {
    typename Product::Word d[CHAINS][Product::WORDS] = {}, sum = 0;
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < ROUNDS; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++) Product::step(d[k], a);
    __syncthreads();
    i64 end = now();
    for (int k = 0; k < CHAINS; k++)
        for (int w = 0; w < Product::WORDS; w++) sum += d[k][w];
    out[threadIdx.x] = (float)sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// Loops whose trips are not known: what an iteration costs beside its body of COUNT dependent additions.
template <int COUNT> __global__ void loop(i64 *cycles, float *out, int n, float step) {
    float a = 1;
    i64 begin = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        begin = now();
#pragma unroll 1
        for (int i = 0; i < n; i++)
#pragma unroll
            for (int k = 0; k < COUNT; k++) asm volatile("add.f32 %0, %0, %1;" : "+f"(a) : "f"(step));
        end = now();
    }
    out[threadIdx.x] = a;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// A branch on a comparison of what was just loaded from registers; both ways are short.
__global__ void if_else(i64 *cycles, float *out, int n, float limit, bool *) {
    float a = (float)threadIdx.x;
    i64 begin = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        begin = now();
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            asm volatile("{.reg .pred p; setp.lt.f32 p, %0, %1; @p bra L1%=; add.f32 %0, %0, 0f3F800000; bra L2%=; L1%=: sub.f32 %0, %0, 0f3F800000; L2%=: }" : "+f"(a) : "f"(limit));
        }
        end = now();
    }
    out[threadIdx.x] = a;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

#define MEASURE(name, chains, what)                                                                                      \
    for (int warps = 1; warps <= 32; warps *= (chains) == 1 ? 32 : 4) {                                                   \
        if ((chains) == 1 && warps > 1) break;                                                                           \
        products<name, chains><<<1, warps * 32>>>(cycles, out, 0);                                                                 \
        products<name, chains><<<1, warps * 32>>>(cycles, out, 0);                                                                 \
        snprintf(text, sizeof text, "tensor/" #name "/%d_chains/%d_warps", chains, warps);                               \
        report(text, (double)cycles_read(cycles, 0) / ((chains) == 1 ? ROUNDS : (double)ROUNDS * (chains) * warps), "cycles", \
               (chains) == 1 ? what ": dependent" : what ": per product of the SM");                                      \
    }

int main() {
    i64 *cycles = cycles_buffer();
    float *out;
    char text[128];
    CHECK(cudaMalloc(&out, 1 << 16));
    MEASURE(mma_f16, 1, "m16n8k16 f16") MEASURE(mma_f16, 4, "m16n8k16 f16") MEASURE(mma_tf32, 1, "m16n8k8 tf32") MEASURE(mma_tf32, 4, "m16n8k8 tf32")
    MEASURE(mma_s8, 1, "m16n8k32 s8") MEASURE(mma_s8, 4, "m16n8k32 s8") MEASURE(mma_f64, 1, "m8n8k4 f64") MEASURE(mma_f64, 4, "m8n8k4 f64")
#define LOOP(count)                                                                               \
    for (int warps = 1; warps <= 16; warps *= 4) {                                                \
        loop<count><<<1, 32 * warps>>>(cycles, out, 1000, 1.0f);                                  \
        snprintf(text, sizeof text, "branch/loop_of_%d/%d_warps", count, warps);                  \
        report(text, (double)cycles_read(cycles, 0) / 1000, "cycles", "an iteration, not unrolled, dependent add.f32"); \
    }
    LOOP(1) LOOP(2) LOOP(4) LOOP(8) LOOP(16)
    if_else<<<1, 32>>>(cycles, out, 1000, 1e9f, NULL);
    report("branch/if_else/uniform", (double)cycles_read(cycles, 0) / 1000, "cycles", "loop with a branch that all lanes take");
    if_else<<<1, 32>>>(cycles, out, 1000, 15.5f, NULL);
    report("branch/if_else/divergent", (double)cycles_read(cycles, 0) / 1000, "cycles", "loop with a branch that some lanes take");
    return 0;
}
