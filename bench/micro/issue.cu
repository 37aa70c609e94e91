// SPDX-License-Identifier: Apache-2.0
// When a warp issues its next instruction: behind branches that are taken and not, behind accesses, and behind results of
// another unit. Warps: how many do the same on one SM. Loops and chains are such that ptxas changes nothing in them.
#include "micro.h"

#define FMA "fma.rn.f32 %0, %0, %0, %0;\n"
#define FMA4 FMA FMA FMA FMA

__device__ static void done(i64 begin, i64 end, float x, i64 *cycles, float *sink) {
    if (x == 123.0f) *sink = x;
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}

// `fmas` in a chain and a taken branch.
template <int fmas> __global__ void loop(int turns, i64 *cycles, float *sink) {
    float x = (float)threadIdx.x;
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < turns; i++) {
#pragma unroll
        for (int k = 0; k < fmas; k++) asm volatile(FMA : "+f"(x));
    }
    done(begin, now(), x, cycles, sink);
}

// Sixteen branches forward over twelve instructions: bit k of `which` says whether branch k % 4 is not taken.
__global__ void forward(int which, i64 *cycles, float *sink) {
    float x = (float)threadIdx.x;
    __syncthreads();
    i64 begin = 0;
    for (int round = 0; round < 4; round++) {  // the first bring the code
        begin = now();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.eq.s32 p, t, 0; @p bra.uni L%=;\n" FMA4 FMA4 FMA4
                         "L%=: }" : "+f"(x) : "r"(which), "r"(1 << k % 4) : "memory");
        }
    }
    done(begin, now(), x, cycles, sink);
}

// Chains of two instructions of different units, 32 pairs. The result is a register of 32 bits.
#define CHAIN(name, text)                                                            \
    __global__ void name(int, i64 *cycles, float *sink) {                            \
        float x = (float)threadIdx.x;                                                \
        i64 begin = 0;                                                               \
        __syncthreads();                                                             \
        for (int round = 0; round < 3; round++) {                                    \
            begin = now();                                                           \
            _Pragma("unroll") for (int k = 0; k < 32; k++) asm volatile("{ .reg .b32 t, u; .reg .b64 d; mov.b32 t, %0;\n" text "mov.b32 %0, t; }" : "+f"(x)::"memory"); \
        }                                                                            \
        done(begin, now(), x, cycles, sink);                                         \
    }
CHAIN(logic_logic, "shf.l.wrap.b32 t, t, t, 5; shf.l.wrap.b32 t, t, t, 9;\n")
CHAIN(logic_product, "shf.l.wrap.b32 t, t, t, 5; mad.lo.s32 t, t, t, t;\n")
CHAIN(product_product, "mad.lo.s32 t, t, t, t; mad.lo.s32 t, t, t, t;\n")
CHAIN(fma_logic, "fma.rn.f32 t, t, t, t; shf.l.wrap.b32 t, t, t, 5;\n")
CHAIN(fma_fma, "fma.rn.f32 t, t, t, t; fma.rn.f32 t, t, t, t;\n")
CHAIN(fma_product, "fma.rn.f32 t, t, t, t; mad.lo.s32 t, t, t, t;\n")
CHAIN(wide_logic, "mad.wide.u32 d, t, t, 77; mov.b64 {t, u}, d; shf.l.wrap.b32 t, t, u, 5;\n")
CHAIN(fma_special, "fma.rn.f32 t, t, t, t; ex2.approx.ftz.f32 t, t;\n")
CHAIN(logic_special, "shf.l.wrap.b32 t, t, t, 5; ex2.approx.ftz.f32 t, t;\n")

// `count` accesses in a row whose results nobody waits for: until the last one is issued.
enum { SHARED_LOAD, SHARED_STORE, GLOBAL_LOAD, GLOBAL_STORE };
static const char *const access_names[] = {"ld_shared", "st_shared", "ld_global", "st_global"};
template <int kind, int count> __global__ void accesses(char *data, int none, i64 *cycles, float *sink) {
    __shared__ unsigned memory[4096];
    unsigned v[count] = {}, at = (unsigned)__cvta_generic_to_shared(memory) + threadIdx.x % 32 * 4;
    char *global = data + threadIdx.x * 4;
    unsigned sum = 0;
    i64 begin = 0, end = 0;
    for (int round = 0; round < 3; round++) {
        __syncthreads();
        begin = now();
#pragma unroll
        for (int k = 0; k < count; k++) {
            if (kind == SHARED_LOAD) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at + 128 * k) : "memory");
            if (kind == SHARED_STORE) asm volatile("st.shared.u32 [%0], %0;" ::"r"(at + 128 * k) : "memory");
            if (kind == GLOBAL_LOAD) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(global + 128 * k) : "memory");
            if (kind == GLOBAL_STORE) asm volatile("st.global.u32 [%0], %1;" ::"l"(global + 128 * k), "r"(none) : "memory");
        }
        end = now();
#pragma unroll
        for (int k = 0; k < count; k++) sum += v[k];
    }
    done(begin, end, sum == 12345 ? 123.0f : 0.0f, cycles, sink);
}

static char *data;
static float *sink;

template <class F> static double most(F launch, int warps) {
    i64 *cycles = cycles_buffer(), low, high;
    for (int round = 0; round < 2; round++) launch(cycles);
    cycles_range(cycles, warps, &low, &high);
    return (double)high;
}

template <int fmas> static void measure_loop() {
    for (int warps : {1, 4, 8, 16, 32}) {
        char name[64];
        sprintf(name, "issue/loop/%d_fma/%d_warps", fmas, warps);
        auto run = [&](int turns) { return most([&](i64 *c) { loop<fmas><<<1, warps * 32>>>(turns, c, sink); }, warps); };
        report(name, (run(1100) - run(100)) / 1000, "cycles", "a turn");
    }
}

typedef void Chain(int, i64 *, float *);
static void measure_chain(const char *what, Chain *chain) {
    char name[64];
    sprintf(name, "issue/chain/%s", what);
    report(name, most([&](i64 *c) { chain<<<1, 32>>>(0, c, sink); }, 1) / 32, "cycles", "a pair");
}

template <int kind> static void measure_accesses() {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        double four = most([&](i64 *c) { accesses<kind, 4><<<1, warps * 32>>>(data, 0, c, sink); }, warps);
        double eight = most([&](i64 *c) { accesses<kind, 8><<<1, warps * 32>>>(data, 0, c, sink); }, warps);
        double sixteen = most([&](i64 *c) { accesses<kind, 16><<<1, warps * 32>>>(data, 0, c, sink); }, warps);
        char name[64], note[96];
        sprintf(name, "issue/accesses/%s/%d_warps", access_names[kind], warps);
        sprintf(note, "each, from 8 to 16 in a row; 4: %.0f 8: %.0f 16: %.0f", four, eight, sixteen);
        report(name, (sixteen - eight) / 8, "cycles", note);
    }
}

int main() {
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMemset(data, 0, 1 << 20));
    CHECK(cudaMalloc(&sink, 4));
    measure_loop<1>(), measure_loop<2>(), measure_loop<4>(), measure_loop<8>(), measure_loop<12>(), measure_loop<16>();
    measure_loop<24>(), measure_loop<32>(), measure_loop<64>(), measure_loop<128>();
    for (int which : {0, 1, 3, 15})
        for (int warps : {1, 4, 16}) {
            char name[64];
            sprintf(name, "issue/forward/%d_of_4_not_taken/%d_warps", __builtin_popcount(which), warps);
            report(name, most([&](i64 *c) { forward<<<1, warps * 32>>>(which, c, sink); }, warps) / 16, "cycles", "a branch; 12 instructions of a chain behind one not taken");
        }
    measure_chain("shf,shf", logic_logic), measure_chain("shf,imad", logic_product), measure_chain("imad,imad", product_product);
    measure_chain("ffma,shf", fma_logic), measure_chain("ffma,ffma", fma_fma), measure_chain("ffma,imad", fma_product), measure_chain("imad.wide,shf", wide_logic);
    measure_chain("ffma,ex2", fma_special), measure_chain("shf,ex2", logic_special);
    measure_accesses<SHARED_LOAD>(), measure_accesses<SHARED_STORE>(), measure_accesses<GLOBAL_LOAD>(), measure_accesses<GLOBAL_STORE>();
    return 0;
}
