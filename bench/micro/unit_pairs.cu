// SPDX-License-Identifier: Apache-2.0
// Which unit an instruction goes to and how long it takes it: each beside an instruction of another unit, in eight
// chains of 16 warps on one SM. unit_pairs/NAME: cycles of a scheduler for the pair; `_fma` has a product of f32 (half
// a turn of its unit, and one issue), `_xor` one of the ALU (two cycles of it).
#include "micro.h"

enum { ROUNDS = 64 };

#define FMA "{.reg .f32 f; mov.b32 f, %0; fma.rn.f32 f, f, f, f; mov.b32 %0, f;}"
#define XOR "lop3.b32 %0, %0, %1, %1, 0x1e;"
#define OPS(X)                                                                                                         \
    X(nothing_fma, "r", int, 3, FMA)                                                                                   \
    X(nothing_xor, "r", int, 3, XOR)                                                                                   \
    X(min_s32_fma, "r", int, 3, "min.s32 %0, %0, %1;" FMA)                                                             \
    X(min_u32_fma, "r", int, 3, "min.u32 %0, %0, %1;" FMA)                                                             \
    X(max_s32_fma, "r", int, 3, "max.s32 %0, %0, %1;" FMA)                                                             \
    X(min_s32_xor, "r", int, 3, "min.s32 %0, %0, %1;" XOR)                                                             \
    X(min_s32_imm_xor, "r", int, 3, "min.s32 %0, %0, 77;" XOR)                                                         \
    X(addmin_s32_fma, "r", int, 3, "add.s32 %0, %0, %1; min.s32 %0, %0, %1;" FMA)                                      \
    X(addmin_s32_xor, "r", int, 3, "add.s32 %0, %0, 5; max.s32 %0, %0, %1;" XOR)                                       \
    X(minmax_s32_fma, "r", int, 3, "max.s32 %0, %0, 7; min.s32 %0, %0, %1;" FMA)                                       \
    X(min_f32_fma, "r", int, 3, "{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; min.f32 f, f, g; mov.b32 %0, f;}" FMA) \
    X(i2f_s32_fma, "r", int, 3, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}" FMA)                             \
    X(i2f_u32_xor, "r", int, 3, "{.reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f;}" XOR)                             \
    X(add_s32_fma, "r", int, 3, "add.s32 %0, %0, %1;" FMA)                                                             \
    X(shl_fma, "r", int, 3, "shl.b32 %0, %0, 3;" FMA)                                                                  \
    X(shf_fma, "r", int, 3, "shf.l.wrap.b32 %0, %0, %1, 7;" FMA)                                                       \
    X(prmt_fma, "r", int, 3, "prmt.b32 %0, %0, %1, 0x5140;" FMA)                                                       \
    X(lea_fma, "r", int, 3, "mad.lo.s32 %0, %0, 4, %1;" FMA)                                                           \
    X(mad_fma, "r", int, 3, "mad.lo.s32 %0, %0, %1, %1;" FMA)                                                          \
    X(mad_xor, "r", int, 3, "mad.lo.s32 %0, %0, %1, %1;" XOR)                                                          \
    X(abs_fma, "r", int, 3, "abs.s32 %0, %0;" FMA)

#define KERNELS(name, letter, type, value, text)                                                                       \
    __global__ void run_##name(i64 *cycles, type *out, type first, type second) {                                      \
        type a[8];                                                                                                     \
        for (int i = 0; i < 8; i++) a[i] = first + (type)i;                                                            \
        __syncthreads();                                                                                               \
        i64 start = now();                                                                                             \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            _Pragma("unroll") for (int i = 0; i < 32; i++) asm volatile(text : "+" letter(a[i % 8]) : letter(second)); \
        }                                                                                                              \
        end_chains(a, start, cycles, out);                                                                             \
    }
OPS(KERNELS)

template <typename T> static void measure(const char *name, void (*kernel)(i64 *, T *, T, T), T value) {
    i64 *cycles = cycles_buffer();
    T *out;
    char text[64];
    CHECK(cudaMalloc(&out, 8192));
    for (int i = 0; i < 2; i++) kernel<<<1, 512>>>(cycles, out, value, (T)(value + 1));
    snprintf(text, sizeof text, "unit_pairs/%s", name);
    report(text, (double)cycles_read(cycles, 0) / (ROUNDS * 32 * 4), "cycles/pair", "of a scheduler's 4 warps");
    CHECK(cudaFree(out));
}

#define MEASURE(name, letter, type, value, text) measure<type>(#name, run_##name, value);

int main() {
    OPS(MEASURE)
    return 0;
}
