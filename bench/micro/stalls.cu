// SPDX-License-Identifier: Apache-2.0
// For which reasons warps wait around one kind of instruction: kernels to be run under Nsight Compute, which counts the
// cycles of each reason (the command is in bench/hwref/README.md). main() has the grids of each kernel; `frame` is what
// all of them have.
#include "micro.h"

#define LANE (threadIdx.x)
#define FMA "fma.rn.f32 %0, %0, %0, %0;\n"
#define FMA4 FMA FMA FMA FMA
#define KERNEL(name) __global__ void name(float *out, int none)
// What keeps a value alive without being stored.
#define KEEP(x) \
    if ((x) == 123456.0f) *out = (x)

// --- the begin and the end of a warp --------------------------------------------------------------------------------
KERNEL(frame) {}
KERNEL(tid_stored) { out[LANE] = 1.0f; }
KERNEL(index_stored) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }
KERNEL(index_bounded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < none) out[i] = 1.0f;
}
KERNEL(index_bounded_stored) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= none) out[i] = 1.0f;
}
KERNEL(grid_stride) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 540672; i += gridDim.x * blockDim.x) out[i] = 1.0f;
}
KERNEL(stored_eight) {
#pragma unroll
    for (int k = 0; k < 8; k++) out[LANE + 1024 * k] = 1.0f;
}
KERNEL(stored_then_busy) {
    float x = (float)LANE;
    out[LANE] = 1.0f;
#pragma unroll
    for (int k = 0; k < 64; k++) asm volatile(FMA : "+f"(x));
    KEEP(x);
}
KERNEL(busy) {
    float x = (float)LANE;
#pragma unroll
    for (int k = 0; k < 64; k++) asm volatile(FMA : "+f"(x));
    KEEP(x);
}
KERNEL(stored_shared) {
    __shared__ float words[1024];
    words[LANE] = 1.0f;
    asm volatile("" ::"l"(words) : "memory");
}
KERNEL(loaded) {
    float x = out[LANE];
    KEEP(x);
}
KERNEL(reduced) { atomicAdd(out + LANE, 1.0f); }

// --- constants ------------------------------------------------------------------------------------------------------
__device__ float variable[1024], far[1 << 20];
__constant__ float constant[1024];
KERNEL(variable_read) { KEEP(variable[LANE]); }
KERNEL(variable_written) { variable[LANE] = 1.0f; }
KERNEL(variable_pair) { far[LANE] = variable[LANE]; }
KERNEL(variable_one) { KEEP(variable[0]); }
KERNEL(constant_one) { KEEP(constant[5] + (float)LANE); }
KERNEL(constant_product) { KEEP(constant[5] * (float)LANE); }
KERNEL(constant_indexed) { KEEP(constant[LANE % 7]); }

// --- branches -------------------------------------------------------------------------------------------------------
template <int fmas> KERNEL(loop) {
    float x = (float)LANE;
#pragma unroll 1
    for (int i = 0; i < none; i++) {
#pragma unroll
        for (int k = 0; k < fmas; k++) asm volatile(FMA : "+f"(x));
    }
    KEEP(x);
}
// Lanes part and meet, 16 times: sides of 12 instructions each.
KERNEL(parted) {
    float x = (float)LANE;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        if (LANE >> (k % 5) & 1)
            asm volatile(FMA4 FMA4 FMA4 : "+f"(x)::"memory");
        else
            asm volatile(FMA4 FMA4 "add.f32 %0, %0, %0;\n" FMA4 : "+f"(x)::"memory");
    }
    KEEP(x);
}
// Loops that lanes leave at different turns.
KERNEL(parted_loop) {
    float x = (float)LANE;
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
#pragma unroll 1
        for (int i = 0; i < (int)(LANE * 7 + k) % 8; i++) asm volatile(FMA4 FMA4 : "+f"(x)::"memory");
        asm volatile(FMA4 : "+f"(x)::"memory");
    }
    KEEP(x);
}
__device__ __noinline__ float called(float x) {
    asm volatile(FMA4 : "+f"(x)::"memory");
    return x;
}
KERNEL(calls) {
    float x = (float)LANE;
#pragma unroll 1
    for (int k = 0; k < 64; k++) x = called(x);
    KEEP(x);
}
KERNEL(cases) {
    float x = (float)LANE;
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        switch ((k * 5 + none) % 8) {
        case 0: asm volatile(FMA "// 0\n" : "+f"(x)::"memory"); break;
        case 1: asm volatile(FMA FMA "// 1\n" : "+f"(x)::"memory"); break;
        case 2: asm volatile("add.f32 %0, %0, 1.5;\n" FMA : "+f"(x)::"memory"); break;
        case 3: asm volatile("add.f32 %0, %0, 2.5;\n" FMA FMA : "+f"(x)::"memory"); break;
        case 4: asm volatile("add.f32 %0, %0, 3.5;\n" FMA : "+f"(x)::"memory"); break;
        case 5: asm volatile("mul.f32 %0, %0, 1.5;\n" FMA FMA FMA : "+f"(x)::"memory"); break;
        case 6: asm volatile("mul.f32 %0, %0, 2.5;\n" FMA : "+f"(x)::"memory"); break;
        case 7: asm volatile("mul.f32 %0, %0, 3.5;\n" FMA FMA : "+f"(x)::"memory"); break;
        }
    }
    KEEP(x);
}
KERNEL(barriers) {
    float x = (float)LANE;
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        asm volatile(FMA4 : "+f"(x)::"memory");
        __syncthreads();
    }
    KEEP(x);
}
KERNEL(syncwarps) {
    float x = (float)LANE;
#pragma unroll
    for (int k = 0; k < 64; k++) {
        asm volatile(FMA4 : "+f"(x)::"memory");
        __syncwarp();
    }
    KEEP(x);
}

// --- rows of one instruction: 64 turns of 32, four chains of them ---------------------------------------------------
#define ROW4(text) text("%0") text("%1") text("%2") text("%3")
#define ROW(name, text)                                                                              \
    KERNEL(row_##name) {                                                                             \
        int a = LANE * 3 + none, b = LANE + 77, c = LANE ^ 5, d = none;                              \
        _Pragma("unroll 1") for (int i = 0; i < 64; i++) {                                           \
            _Pragma("unroll") for (int k = 0; k < 8; k++)                                            \
                asm volatile("{ .reg .b32 t, u; .reg .b64 x, y; .reg .f64 f; .reg .pred p, q;\n" ROW4(text) "}"    \
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d)::"memory");                         \
        }                                                                                            \
        if ((a ^ b ^ c ^ d) == 0x7654321) *out = 1.0f;                                               \
    }
#define T_FFMA(r) "fma.rn.f32 " r ", " r ", " r ", " r ";\n"
#define T_FFMA3(r) "fma.rn.f32 " r ", %0, %1, %2;\n"
#define T_FADD(r) "add.f32 " r ", " r ", 0f3FC00000;\n"
#define T_FMNMX(r) "min.f32 " r ", " r ", %3;\n"
#define T_IMAD(r) "mad.lo.s32 " r ", " r ", " r ", " r ";\n"
#define T_IMAD3(r) "mad.lo.s32 " r ", %0, %1, %2;\n"
#define T_WIDE(r) "mul.wide.u32 x, " r ", " r "; mov.b64 {t, " r "}, x;\n"
#define T_WIDE3(r) "mad.wide.u32 x, %0, %1, 77; mov.b64 {t, " r "}, x;\n"
#define T_HI(r) "mul.hi.u32 " r ", " r ", 1717986919;\n"
#define T_SHF(r) "shf.l.wrap.b32 " r ", " r ", " r ", 5;\n"
#define T_LOP(r) "lop3.b32 " r ", %0, %1, %2, 0x96;\n"
#define T_IADD3(r) "add.s32 " r ", " r ", %1; xor.b32 " r ", " r ", 77;\n"
#define T_ADD64(r) "cvt.u64.u32 x, " r "; add.cc.u32 " r ", " r ", " r "; addc.u32 " r ", " r ", 5;\n"
#define T_SETP(r) "setp.lt.s32 p, " r ", 5; selp.b32 " r ", %0, %1, p;\n"
#define T_PRMT(r) "prmt.b32 " r ", " r ", %1, 0x2153;\n"
#define T_POPC(r) "popc.b32 " r ", " r ";\n"
#define T_I2F(r) "cvt.rn.f32.s32 " r ", " r ";\n"
#define T_F2I(r) "cvt.rzi.s32.f32 " r ", " r ";\n"
#define T_EX2(r) "ex2.approx.ftz.f32 " r ", " r ";\n"
#define T_F16(r) "fma.rn.f16x2 " r ", " r ", " r ", " r ";\n"
#define T_F64(r) "mov.b64 f, {" r ", " r "}; fma.rn.f64 f, f, f, f; mov.b64 {t, " r "}, f;\n"
#define T_D2F(r) "mov.b64 f, {" r ", " r "}; cvt.rn.f32.f64 " r ", f;\n"
#define T_SHFL(r) "shfl.sync.bfly.b32 " r ", " r ", 1, 31, 0xffffffff;\n"
#define T_VOTE(r) "setp.lt.s32 p, " r ", 5; vote.sync.ballot.b32 " r ", p, 0xffffffff;\n"
#define T_REDUX(r) "redux.sync.add.s32 " r ", " r ", 0xffffffff;\n"
#define T_MATCH(r) "match.any.sync.b32 " r ", " r ", 0xffffffff;\n"
ROW(ffma, T_FFMA) ROW(ffma3, T_FFMA3) ROW(fadd, T_FADD) ROW(fmnmx, T_FMNMX) ROW(imad, T_IMAD) ROW(imad3, T_IMAD3)
ROW(wide, T_WIDE) ROW(wide3, T_WIDE3) ROW(hi, T_HI) ROW(shf, T_SHF) ROW(lop3, T_LOP) ROW(iadd3, T_IADD3) ROW(carry, T_ADD64)
ROW(setp, T_SETP) ROW(prmt, T_PRMT) ROW(popc, T_POPC) ROW(i2f, T_I2F) ROW(f2i, T_F2I) ROW(ex2, T_EX2)
ROW(f16, T_F16) ROW(f64, T_F64) ROW(d2f, T_D2F)
 ROW(shfl, T_SHFL) ROW(vote, T_VOTE) ROW(redux, T_REDUX) ROW(match, T_MATCH)

// --- accesses: 16 turns of so many in a row, each behind eight dependent multiply-adds ------------------------------
enum { SHARED_LOAD, SHARED_WIDE, SHARED_STORE, SHARED_RED, GLOBAL_LOAD, GLOBAL_STORE, CONSTANT };
template <int kind, int many> KERNEL(access) {
    __shared__ unsigned memory[8192];
    unsigned at = (unsigned)__cvta_generic_to_shared(memory) + threadIdx.x % 32 * 16, sum = 0;
    char *global = (char *)out + blockIdx.x * 4096 + threadIdx.x * 4;
    float x = (float)LANE;
#pragma unroll 1
    for (int round = 0; round < 16; round++) {
        unsigned v[many] = {};
        asm volatile(FMA4 FMA4 : "+f"(x)::"memory");
#pragma unroll
        for (int k = 0; k < many; k++) {
            if (kind == SHARED_LOAD) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at / 4 + 128 * k) : "memory");
            if (kind == SHARED_WIDE) asm volatile("{ .reg .b32 a, b, c; ld.shared.v4.u32 {%0, a, b, c}, [%1]; }" : "=r"(v[k]) : "r"(at + 512 * k) : "memory");
            if (kind == SHARED_STORE) asm volatile("st.shared.u32 [%0], %0;" ::"r"(at / 4 + 128 * k) : "memory");
            if (kind == SHARED_RED) asm volatile("red.shared.add.u32 [%0], %0;" ::"r"(at / 4 + 128 * k) : "memory");
            if (kind == GLOBAL_LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(global + 128 * k) : "memory");
            if (kind == GLOBAL_STORE) asm volatile("st.global.u32 [%0], %1;" ::"l"(global + 128 * k), "r"(none) : "memory");
            if (kind == CONSTANT) v[k] = ((unsigned *)constant)[(LANE + k + round) / 32 % 1024];
        }
#pragma unroll
        for (int k = 0; k < many; k++) sum += v[k];
    }
    if (sum == 12345) x = 123456.0f;
    KEEP(x);
}

static float *out;

typedef void Kernel(float *, int);
static void launch(Kernel *kernel, int ctas, int threads, int none) {
    kernel<<<ctas, threads>>>(out, none);
    CHECK(cudaDeviceSynchronize());
}

int main() {
    CHECK(cudaMalloc(&out, 64 << 20));
    CHECK(cudaMemset(out, 0, 64 << 20));
    Kernel *ends[] = {frame, tid_stored, index_stored, index_bounded, index_bounded_stored, grid_stride, stored_eight,
                      stored_then_busy, busy, stored_shared, loaded, reduced, variable_read, variable_written,
                      variable_pair, variable_one, constant_one, constant_product, constant_indexed};
    for (Kernel *k : ends) launch(k, 1, 32, 0), launch(k, 132, 256, 0), launch(k, 1056, 256, 0), launch(k, 8448, 256, 0);
    Kernel *branches[] = {loop<1>, loop<8>, loop<32>, parted, parted_loop, calls, cases, barriers, syncwarps};
    for (Kernel *k : branches) launch(k, 132, 32, 64), launch(k, 132, 256, 64), launch(k, 132, 1024, 64);
    Kernel *rows[] = {row_ffma, row_ffma3, row_fadd, row_fmnmx, row_imad, row_imad3, row_wide, row_wide3, row_hi, row_shf, row_lop3,
                      row_iadd3, row_carry, row_setp, row_prmt, row_popc, row_i2f, row_f2i, row_ex2, row_f16, row_f64,
                      row_d2f, row_shfl, row_vote, row_redux, row_match};
    for (Kernel *k : rows) launch(k, 132, 32, 0), launch(k, 132, 512, 0);
    Kernel *accesses[] = {access<SHARED_LOAD, 4>, access<SHARED_LOAD, 16>, access<SHARED_WIDE, 4>, access<SHARED_STORE, 4>, access<SHARED_STORE, 16>,
                          access<SHARED_RED, 4>, access<GLOBAL_LOAD, 4>, access<GLOBAL_LOAD, 16>, access<GLOBAL_STORE, 4>,
                          access<GLOBAL_STORE, 16>, access<CONSTANT, 4>};
    for (Kernel *k : accesses) launch(k, 132, 32, 0), launch(k, 132, 256, 0), launch(k, 132, 1024, 0);
    return 0;
}
