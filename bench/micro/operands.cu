// SPDX-License-Identifier: Apache-2.0
// What the number of different registers that an instruction reads costs: loops of 64 instructions with 2 or 3 of them.
// `operands/PATTERN/WARPS`: cycles of a scheduler for an instruction. What ptxas makes of a pattern, above all which
// operands it marks .reuse, is in the listing (cuobjdump -sass). `operands once`: each with 32 warps, for Nsight Compute.
#include <cstring>

#include "micro.h"

constexpr int TURNS = 256, COUNT = 64;

// v: 8 values that change, a and b: 8 each that do not, c: a parameter (constant bank), i: 0 to 63
#define PATTERNS(X)                                                                                       \
    X(ffma_v_a_a, float, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v[i % 8]) : "f"(a[0])))         \
    X(ffma_a_b_v_one, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[0]) : "f"(a[0]), "f"(b[0]))) \
    X(ffma_a_b_v, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[0]), "f"(b[0]))) \
    X(ffma_ai_b_v, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[0]))) \
    X(ffma_ai_bi_v, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8]))) \
    X(ffma_ai_bi_v_one, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[0]) : "f"(a[i % 8]), "f"(b[i % 8]))) \
    X(ffma_ai_bi_v_two, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 2]) : "f"(a[i % 8]), "f"(b[i % 8]))) \
    X(ffma_outer, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 2]), "f"(b[i / 2 % 4]))) \
    X(ffma_ai_c_v, float, asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(c))) \
    X(ffma_v_ai_imm, float, asm volatile("fma.rn.f32 %0, %0, %1, 0f3F8CCCCD;" : "+f"(v[i % 8]) : "f"(a[i % 8]))) \
    X(fadd_v_ai, float, asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(v[i % 8]) : "f"(a[i % 8])))          \
    X(fmul_ai_bi, float, asm volatile("mul.rn.f32 %0, %1, %2;" : "=f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8]))) \
    X(ffma_fadd, float, if (i % 2) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(v[i % 8]) : "f"(a[i % 8])); \
      else asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8])))    \
    X(ffma_fadd_fadd_fadd, float, if (i % 4) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(v[i % 8]) : "f"(a[i % 8])); \
      else asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8])))    \
    X(ffma_lop2, float, if (i % 2) asm volatile("{.reg .b32 t, u; mov.b32 t, %0; mov.b32 u, %1; xor.b32 t, t, u; mov.b32 %0, t;}" : "+f"(v[i % 8]) : "f"(a[i % 8])); \
      else asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8])))    \
    X(fadd_lop2, float, if (i % 2) asm volatile("{.reg .b32 t, u; mov.b32 t, %0; mov.b32 u, %1; xor.b32 t, t, u; mov.b32 %0, t;}" : "+f"(v[i % 8]) : "f"(a[i % 8])); \
      else asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(v[i % 8]) : "f"(a[i % 8])))                       \
    X(lop3_2, int, asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(v[i % 8]) : "r"(a[i % 8])))       \
    X(lop3_3, int, asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(v[i % 8]) : "r"(a[i % 8]), "r"(b[i % 8]))) \
    X(imad_2, int, asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(v[i % 8]) : "r"(a[i % 8])))           \
    X(imad_3, int, asm volatile("mad.lo.s32 %0, %1, %2, %0;" : "+r"(v[i % 8]) : "r"(a[i % 8]), "r"(b[i % 8]))) \
    X(hfma2_2, int, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(v[i % 8]) : "r"(a[i % 8])))        \
    X(hfma2_3, int, asm volatile("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(v[i % 8]) : "r"(a[i % 8]), "r"(b[i % 8]))) \
    X(dfma_2, double, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(v[i % 8]) : "d"(a[i % 8])))        \
    X(dfma_3, double, asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(v[i % 8]) : "d"(a[i % 8]), "d"(b[i % 8]))) \
    X(hi_reg, int, asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(v[i % 8]) : "r"(a[i % 8])))                \
    X(hi_literal, int, asm volatile("mul.hi.u32 %0, %0, 0x66666667;" : "+r"(v[i % 8])))                    \
    X(hi_lop, int, if (i % 2) asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(v[i % 8]) : "r"(a[i % 8])); \
      else asm volatile("mul.hi.u32 %0, %0, 0x66666667;" : "+r"(v[i % 8])))                               \
    X(hi_lop_lop_lop, int, if (i % 4) asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(v[i % 8]) : "r"(a[i % 8])); \
      else asm volatile("mul.hi.u32 %0, %0, 0x66666667;" : "+r"(v[i % 8])))                               \
    X(hi_imad, int, if (i % 2) asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(v[i % 8]) : "r"(a[i % 8])); \
      else asm volatile("mul.hi.u32 %0, %0, 0x66666667;" : "+r"(v[i % 8])))                               \
    X(fsel_3, float, asm volatile("{.reg .pred p; setp.gt.f32 p, %1, %2; selp.f32 %0, %0, %1, p;}" : "+f"(v[i % 8]) : "f"(a[i % 8]), "f"(b[i % 8])))

#define KERNEL(name, type, step)                                                                \
    __global__ void __launch_bounds__(1024) name(const type *in, type c, i64 *cycles, type *out) { \
        type v[8], a[8], b[8], sum = 0;                                                         \
        for (int i = 0; i < 8; i++) v[i] = in[threadIdx.x + i], a[i] = in[8 + i + threadIdx.x], b[i] = in[16 + i + threadIdx.x]; \
        __syncthreads();                                                                        \
        i64 begin = now();                                                                      \
        _Pragma("unroll 1") for (int turn = 0; turn < TURNS; turn++) {                          \
            _Pragma("unroll") for (int i = 0; i < COUNT; i++) { step; }                         \
        }                                                                                       \
        for (int i = 0; i < 8; i++) sum += v[i] + a[i] + b[i];                                  \
        out[threadIdx.x] = sum;                                                                 \
        __syncthreads();                                                                        \
        if (threadIdx.x == 0) cycles[0] = now() - begin;                                        \
    }
PATTERNS(KERNEL)

template <typename T> static void measure(const char *name, void (*kernel)(const T *, T, i64 *, T *), void *in, void *out, bool once) {
    char text[128];
    for (int warps = once ? 32 : 4; warps <= 32; warps *= 2) {
        i64 *cycles = cycles_buffer();
        if (!once) kernel<<<1, warps * 32>>>((const T *)in, (T)3, cycles, (T *)out);  // its code is there for the next
        kernel<<<1, warps * 32>>>((const T *)in, (T)3, cycles, (T *)out);
        snprintf(text, sizeof text, "operands/%s/%d_warps", name, warps);
        report(text, (double)cycles_read(cycles, 0) / ((double)TURNS * COUNT * warps / 4), "cycles/instruction of a scheduler", "");
    }
}

int main(int argc, char **argv) {
    bool once = argc > 1 && !strcmp(argv[1], "once");
    void *in, *out;
    CHECK(cudaMalloc(&in, 1 << 20));
    {
        static int words[1 << 18];  // lanes' values differ: ptxas and the machine cannot take them for uniform
        for (int i = 0; i < 1 << 18; i++) words[i] = i * 7;
        CHECK(cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&out, 1 << 20));
#define MEASURE(name, type, step) measure<type>(#name, name, in, out, once);
    PATTERNS(MEASURE)
    return 0;
}
