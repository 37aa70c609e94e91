// SPDX-License-Identifier: Apache-2.0
// Latency of each kind of instruction (a chain of dependent ones in one warp) and its throughput (independent ones, 4 to
// 32 warps on one SM). A row of OPS is one PTX instruction; what ptxas makes of it is in the listing that run.sh keeps.
#include "micro.h"

enum { CHAIN = 64, ROUNDS = 64 };

// Rows with two instructions say so in their names (add_xor). name, register class, C type, first value, instruction with %0 as destination and first source, %1 as second source
#define OPS(X)                                                                                   \
    X(add_xor_b32, "r", int, 3, "{.reg .s32 t; add.s32 t, %0, %1; xor.b32 %0, t, %1;}")                                               \
    X(min_sub_s32, "r", int, 3, "{.reg .s32 t; min.s32 t, %0, %1; sub.s32 %0, t, %0;}")                                               \
    X(shl_b32, "r", int, 3, "shl.b32 %0, %0, %1;")                                                \
    X(shf_l, "r", int, 3, "shf.l.wrap.b32 %0, %0, %1, 7;")                                       \
    X(mul_lo_s32, "r", int, 3, "mul.lo.s32 %0, %0, %1;")                                         \
    X(mad_lo_s32, "r", int, 3, "mad.lo.s32 %0, %0, %1, %1;")                                     \
    X(mul_hi_u32, "r", int, 3, "mul.hi.u32 %0, %0, %1;")                                         \
    X(add_s64, "l", i64, 3, "add.s64 %0, %0, %1;")                                               \
    X(mul_lo_s64, "l", i64, 3, "mul.lo.s64 %0, %0, %1;")                                         \
    X(min_s32, "r", int, 3, "min.s32 %0, %0, %1;")                                               \
    X(popc_b32, "r", int, 3, "popc.b32 %0, %0;")                                                 \
    X(clz_b32, "r", int, 3, "clz.b32 %0, %0;")                                                   \
    X(brev_b32, "r", int, 3, "brev.b32 %0, %0;")                                                 \
    X(bfe_u32, "r", int, 3, "bfe.u32 %0, %0, 3, 9;")                                             \
    X(prmt_b32, "r", int, 3, "prmt.b32 %0, %0, %1, 0x5140;")                                     \
    X(lop3_b32, "r", int, 3, "lop3.b32 %0, %0, %1, %1, 0x96;")                                   \
    X(dp4a, "r", int, 3, "dp4a.s32.s32 %0, %0, %1, %1;")                                         \
    X(add_f32, "f", float, 1.5f, "add.f32 %0, %0, %1;")                                          \
    X(mul_f32, "f", float, 1.5f, "mul.f32 %0, %0, %1;")                                          \
    X(fma_f32, "f", float, 1.5f, "fma.rn.f32 %0, %0, %1, %1;")                                   \
    X(min_f32, "f", float, 1.5f, "min.f32 %0, %0, %1;")                                          \
    X(add_f64, "d", double, 1.5, "add.f64 %0, %0, %1;")                                          \
    X(mul_f64, "d", double, 1.5, "mul.f64 %0, %0, %1;")                                          \
    X(fma_f64, "d", double, 1.5, "fma.rn.f64 %0, %0, %1, %1;")                                   \
    X(fma_f16x2, "r", int, 0x3c003c00, "fma.rn.f16x2 %0, %0, %1, %1;")                           \
    X(add_f16x2, "r", int, 0x3c003c00, "add.f16x2 %0, %0, %1;")                                  \
    X(fma_bf16x2, "r", int, 0x3f803f80, "fma.rn.bf16x2 %0, %0, %1, %1;")                         \
    X(add_rcp_approx_f32, "f", float, 1.5f, "{.reg .f32 t; add.f32 t, %0, %1; rcp.approx.ftz.f32 %0, t;}") \
    X(rsqrt_approx_f32, "f", float, 1.5f, "rsqrt.approx.ftz.f32 %0, %0;")                        \
    X(sqrt_approx_f32, "f", float, 1.5f, "sqrt.approx.ftz.f32 %0, %0;")                          \
    X(ex2_approx_f32, "f", float, 0.5f, "ex2.approx.ftz.f32 %0, %0;")                            \
    X(lg2_approx_f32, "f", float, 1.5f, "lg2.approx.ftz.f32 %0, %0;")                            \
    X(sin_approx_f32, "f", float, 0.5f, "sin.approx.ftz.f32 %0, %0;")                            \
    X(tanh_approx_f32, "f", float, 0.5f, "tanh.approx.f32 %0, %0;")                              \
    X(div_rn_f32, "f", float, 1.0f, "div.rn.f32 %0, %0, %1;")                                    \
    X(sqrt_rn_f32, "f", float, 1.0f, "sqrt.rn.f32 %0, %0;")                                      \
    X(div_rn_f64, "d", double, 1.0, "div.rn.f64 %0, %0, %1;")                                    \
    X(div_s32, "r", int, 1000000007, "div.s32 %0, %0, %1;")                                      \
    X(cvt_f32_s32, "r", int, 3, "{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}")           \
    X(cvt_s32_f32, "f", float, 3, "{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}")        \
    X(cvt_f64_f32_f64, "d", double, 3, "{.reg .f32 t; cvt.rn.f32.f64 t, %0; cvt.f64.f32 %0, t;}") \
    X(cvt_f16_f32_f16, "f", float, 3, "{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}")  \
    X(setp_selp, "r", int, 3, "{.reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %1, %0, p;}")   \
    X(add_shfl_idx, "r", int, 3, "{.reg .s32 t; add.s32 t, %0, %1; shfl.sync.idx.b32 %0, t, t, 31, -1;}") \
    X(mad_wide_u32, "l", i64, 3, "{.reg .u32 t; cvt.u32.u64 t, %0; mad.wide.u32 %0, t, 5, %1;}")    \
    X(fma_lop3, "r", int, 3, "{.reg .f32 t; mov.b32 t, %0; fma.rn.f32 t, t, t, t; mov.b32 %0, t; lop3.b32 %0, %0, %1, %1, 0x96;}") \
    X(imad_lop3, "r", int, 3, "{.reg .s32 t; mad.lo.s32 t, %0, %1, %1; lop3.b32 %0, t, %1, %1, 0x96;}") \
    X(imad_fma, "r", int, 3, "{.reg .f32 t; .reg .s32 u; mad.lo.s32 u, %0, %1, %1; mov.b32 t, u; fma.rn.f32 t, t, t, t; mov.b32 %0, t;}") \
    X(sub_shl, "r", int, 3, "{.reg .s32 t; sub.s32 t, %1, %0; shl.b32 %0, t, 1;}")                  \
    X(isetp_sel_fma, "f", float, 3, "{.reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %1, %0, p; fma.rn.f32 %0, %0, %0, %0;}") \
    X(vote_ballot, "r", int, 3,                                                                  \
      "{.reg .pred p; setp.ne.s32 p, %0, 0; vote.sync.ballot.b32 %0, p, -1;}")                   \
    X(redux_add, "r", int, 3, "redux.sync.add.s32 %0, %0, -1;")                                  \
    X(match_any, "r", int, 3, "match.any.sync.b32 %0, %0, -1;")

#define REPEAT4(s) s s s s
#define REPEAT16(s) REPEAT4(s) REPEAT4(s) REPEAT4(s) REPEAT4(s)
#define REPEAT64(s) REPEAT16(s) REPEAT16(s) REPEAT16(s) REPEAT16(s)

#define KERNELS(name, letter, type, value, text)                                                        \
    __global__ void latency_##name(i64 *cycles, type *out, type first, type second) {                   \
        type a = first;                                                                                 \
        i64 start = 0, end = 0;                                                                         \
        for (int round = 0; round < 3; round++) { /* the last one finds its code in the cache */        \
            __syncwarp();                                                                               \
            start = now();                                                                              \
            REPEAT64(asm volatile(text : "+" letter(a) : letter(second));)                              \
            asm volatile("" ::letter(a) : "memory");                                                    \
            out[threadIdx.x] = a;                                                                       \
            end = now();                                                                                \
        }                                                                                               \
        if (threadIdx.x == 0) cycles[0] = end - start;                                                  \
    }                                                                                                   \
    __global__ void throughput_##name(i64 *cycles, type *out, type first, type second) {                \
        type a[8];                                                                                      \
        for (int i = 0; i < 8; i++) a[i] = first + (type)i;                                             \
        __syncthreads();                                                                                \
        i64 start = now();                                                                              \
        for (int round = 0; round < ROUNDS; round++) {                                                  \
            REPEAT4(asm volatile(text : "+" letter(a[0]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[1]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[2]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[3]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[4]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[5]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[6]) : letter(second));                             \
                    asm volatile(text : "+" letter(a[7]) : letter(second));)                            \
        }                                                                                               \
        end_chains(a, start, cycles, out);                                                              \
    }
OPS(KERNELS)

// The time of the frame around a chain: the clock, the store of the result's register.
__global__ void latency_nothing(i64 *cycles, int *out, int second) {
    i64 start = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        __syncwarp();
        start = now();
        asm volatile("" ::"r"(second) : "memory");
        out[threadIdx.x] = second;
        end = now();
    }
    if (threadIdx.x == 0) cycles[0] = end - start;
}

__global__ void latency_barrier(i64 *cycles) {
    i64 start = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        __syncthreads();
        start = now();
        REPEAT64(__syncthreads();)
        end = now();
    }
    if (threadIdx.x == 0) cycles[0] = end - start;
}

__global__ void latency_syncwarp(i64 *cycles) {
    i64 start = now();
    REPEAT64(__syncwarp();)
    if (threadIdx.x == 0) cycles[0] = now() - start;
}

// A taken branch that depends on nothing: loop overhead per iteration.
__global__ void latency_loop(i64 *cycles, int *out, int n) {
    i64 start = 0, end = 0;
    int a = 0;
    for (int round = 0; round < 3; round++) {
        start = now();
        asm volatile("{.reg .pred p; .reg .s32 i; mov.s32 i, 0;\n L%=: add.s32 i, i, 1; setp.lt.s32 p, i, %1; @p bra L%=;\n mov.s32 %0, i;}"
                     : "=r"(a) : "r"(n) : "memory");
        end = now();
    }
    *out = a;
    if (threadIdx.x == 0) cycles[0] = end - start;
}

// Divergent: each lane of the warp takes its own path.
__global__ void divergent(i64 *cycles, float *out, int paths) {
    float a = 1.5f;
    i64 start = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        __syncwarp();
        start = now();
        int path = threadIdx.x % paths;
        for (int k = 0; k < paths; k++) {
            if (path == k) {
                REPEAT64(asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(a));)
            }
            __syncwarp();
        }
        end = now();
    }
    out[threadIdx.x] = a;
    if (threadIdx.x == 0) cycles[0] = end - start;
}

template <typename T, typename F> static void measure(const char *name, F latency, F throughput, T first, T second) {
    static void *out;
    char text[128];
    i64 *cycles = cycles_buffer();
    if (!out) CHECK(cudaMalloc(&out, 1 << 16));
    latency_nothing<<<1, 32>>>(cycles, (int *)out, 1);
    i64 frame = cycles_read(cycles, 0);
    latency<<<1, 32>>>(cycles, (T *)out, first, second);
    snprintf(text, sizeof text, "latency/%s", name);
    report(text, (double)(cycles_read(cycles, 0) - frame) / CHAIN, "cycles", "dependent, one warp");
    static const int warps[] = {1, 4, 8, 16, 32};
    for (int w : warps) {
        throughput<<<1, w * 32>>>(cycles, (T *)out, first, second);
        snprintf(text, sizeof text, "throughput/%s/%d_warps", name, w);
        report(text, (double)w * ROUNDS * 32 / (double)cycles_read(cycles, 0), "warp instructions/cycle/SM", "8 independent chains");
    }
}

int main() {
    i64 *cycles = cycles_buffer();
    int *out;
    char text[128];
    CHECK(cudaMalloc(&out, 1 << 16));
#define MEASURE(name, letter, type, value, ptx) measure<type>(#name, latency_##name, throughput_##name, (type)(value), (type)(value));
    OPS(MEASURE)
    for (int warps = 1; warps <= 32; warps *= 2) {
        latency_barrier<<<1, warps * 32>>>(cycles);
        snprintf(text, sizeof text, "latency/barrier/%d_warps", warps);
        report(text, (double)cycles_read(cycles, 0) / 64, "cycles", "bar.sync, all warps arrive together");
    }
    latency_syncwarp<<<1, 32>>>(cycles);
    report("latency/syncwarp", (double)cycles_read(cycles, 0) / 64, "cycles", "converged");
    latency_loop<<<1, 32>>>(cycles, out, 1000);
    report("latency/loop", (double)cycles_read(cycles, 0) / 1000, "cycles", "add, setp, bra: per iteration");
    for (int paths = 1; paths <= 32; paths *= 2) {
        divergent<<<1, 32>>>(cycles, (float *)out, paths);
        snprintf(text, sizeof text, "divergence/%d_paths", paths);
        report(text, (double)cycles_read(cycles, 0), "cycles", "64 dependent fma on each path");
    }
    return 0;
}
