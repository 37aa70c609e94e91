// SPDX-License-Identifier: Apache-2.0
// For how many cycles an instruction holds its scheduler, whatever its unit: in a stream of 12 or 24 instructions that
// leave a third of the units for products and of the ALU free, between which it stands. held/NAME/FILL/WARPS:
// cycles of a scheduler more than the stream takes without it; 1 is what its issue takes. One SM.
#include <algorithm>
#include <cstring>

#include "micro.h"

constexpr int TURNS = 128, CHAINS = 8;

#define PRODUCT(k) asm volatile("fma.rn.f32 %0, %0, 0f3F8CCCCD, %0;" : "+f"(f[(k) % 8]));
#define BITS(k) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(b[(k) % 8]) : "r"(p));
#define THREE(k) PRODUCT(2 * (k)) PRODUCT(2 * (k) + 1) BITS(k)
#define FILL THREE(0) THREE(1) THREE(2) THREE(3)
// a: words of the chain, w: 64 bits, d: doubles; p, q, r: different in each lane; u: the same in all; g, s, l: places in
// global, shared and local memory
#define OPS(X)                                                                                                          \
    X(nothing, "")                                                                                                      \
    X(fma_1, "{.reg .f32 f; mov.b32 f, %0; fma.rn.f32 f, f, 0f3F8CCCCD, f; mov.b32 %0, f;}")                            \
    X(fma_3, "{.reg .f32 f, g, h; mov.b32 f, %0; mov.b32 g, %3; mov.b32 h, %4; fma.rn.f32 f, g, h, f; mov.b32 %0, f;}") \
    X(lop_1, "lop3.b32 %0, %0, %0, %0, 0x1e;")                                                                          \
    X(lop_3, "lop3.b32 %0, %0, %3, %4, 0x96;")                                                                          \
    X(add_3, "{.reg .s32 t; add.s32 t, %0, %3; add.s32 %0, t, %4;}")                                                    \
    X(mad_2, "mad.lo.s32 %0, %0, %3, %3;")                                                                              \
    X(mad_3, "mad.lo.s32 %0, %3, %4, %0;")                                                                              \
    X(wide_literal, "{.reg .u32 t, v; mov.b64 {t, v}, %1; mul.wide.s32 %1, t, 44;}")                                    \
    X(wide_product, "{.reg .u32 t, v; mov.b64 {t, v}, %1; mul.wide.s32 %1, t, %3;}")                                    \
    X(wide_sum, "{.reg .u32 t, v; mov.b64 {t, v}, %1; mad.wide.s32 %1, t, %3, %7;}")                                    \
    X(wide_uniform, "{.reg .u32 t, v; mov.b64 {t, v}, %1; mad.wide.s32 %1, t, %6, %7;}")                                \
    X(wide_place, "{.reg .s32 t; xor.b32 t, %0, %5; mad.wide.s32 %1, t, 4, %7; .reg .u32 v; mov.b64 {%0, v}, %1;}")     \
    X(hi, "mul.hi.u32 %0, %0, %3;")                                                                                     \
    X(add_64, "add.s64 %1, %1, %7;")                                                                                    \
    X(shf, "shf.l.wrap.b32 %0, %0, %3, 7;")                                                                             \
    X(shf_3, "shf.l.wrap.b32 %0, %0, %3, %4;")                                                                          \
    X(prmt, "prmt.b32 %0, %0, %3, 0x5140;")                                                                             \
    X(min, "min.s32 %0, %0, %3;")                                                                                       \
    X(addmin, "{.reg .s32 t; add.s32 t, %0, %3; min.s32 %0, t, %4;}")                                                   \
    X(fmin, "{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %3; min.f32 f, f, g; mov.b32 %0, f;}")                          \
    X(setp_selp, "{.reg .pred p; setp.lt.s32 p, %0, %3; selp.b32 %0, %4, %0, p;}")                                      \
    X(selp, "selp.b32 %0, %0, %3, q;")                                                                                  \
    X(i2f, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")                                                       \
    X(f2i, "{.reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f;}")                                                      \
    X(floor, "{.reg .f32 f; mov.b32 f, %0; cvt.rmi.f32.f32 f, f; mov.b32 %0, f;}")                                      \
    X(popc, "popc.b32 %0, %0;")                                                                                         \
    X(ex2, "{.reg .f32 f; mov.b32 f, %0; ex2.approx.ftz.f32 f, f; mov.b32 %0, f;}")                                     \
    X(fma_f16, "fma.rn.f16x2 %0, %3, %4, %0;")                                                                          \
    X(add_f64, "add.f64 %2, %2, %10;")                                                                                  \
    X(fma_f64, "fma.rn.f64 %2, %10, %10, %2;")                                                                          \
    X(load, "ld.relaxed.cta.global.b32 %0, [%7];")                                                                      \
    X(load_64, "ld.relaxed.cta.global.b64 %1, [%12];")                                                                  \
    X(load_128, "ld.volatile.global.v2.b64 {%1, %2}, [%14];")                                                           \
    X(load_offset, "{.reg .b64 t; cvt.u64.u32 t, %8; add.s64 t, t, %11; ld.relaxed.cta.global.b32 %0, [t];}")           \
    X(store, "st.relaxed.cta.global.b32 [%7], %0;")                                                                     \
    X(store_64, "st.relaxed.cta.global.b64 [%12], %1;")                                                                 \
    X(red, "red.relaxed.gpu.global.add.u32 [%7], %3;")                                                                  \
    X(shared_load, "ld.volatile.shared.b32 %0, [%8];")                                                                  \
    X(shared_load_64, "ld.volatile.shared.b64 %1, [%13];")                                                              \
    X(shared_load_128, "ld.volatile.shared.v2.b64 {%1, %2}, [%15];")                                                    \
    X(shared_store, "st.volatile.shared.b32 [%8], %0;")                                                                 \
    X(shared_store_64, "st.volatile.shared.b64 [%13], %1;")                                                             \
    X(shared_store_128, "st.volatile.shared.v2.b64 [%15], {%1, %2};")                                                   \
    X(shared_add, "red.shared.add.u32 [%8], %3;")                                                                       \
    X(special, "mov.u32 %0, %%warpid;")                                                                                 \
    X(shuffle, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")                                                                 \
    X(vote, "vote.sync.ballot.b32 %0, q, -1;")                                                                          \
    X(convergence, "bar.warp.sync -1;")

#define KERNEL(name, text)                                                                                              \
    template <int FILLS, int COUNT> __global__ void __launch_bounds__(1024) run_##name(i64 *cycles, int *out, const int *in, int u) { \
        __shared__ int shared[4096];                                                                                    \
        int a[8], b[8], p = in[threadIdx.x], q = in[threadIdx.x + 7], r = in[threadIdx.x] & 15;                         \
        i64 w[8];                                                                                                       \
        double d[8], e = in[threadIdx.x + 3];                                                                           \
        float f[8];                                                                                                     \
        int *g = out + 4096 + threadIdx.x, s = 4 * threadIdx.x;                                                         \
        const int *same = in + u;                                                                                       \
        for (int i = 0; i < 8; i++) a[i] = in[threadIdx.x + i], b[i] = a[i] + i, w[i] = a[i], d[i] = a[i], f[i] = (float)b[i]; \
        shared[threadIdx.x] = q;                                                                                        \
        unsigned l = (r >> 4) * 4;                                                                                      \
        asm volatile(".reg .pred q; setp.lt.s32 q, %0, 9;" ::"r"(p));                                                   \
        __syncthreads();                                                                                                \
        i64 start = now();                                                                                              \
        _Pragma("unroll 1") for (int turn = 0; turn < TURNS; turn++) {                                                  \
            _Pragma("unroll") for (int i = 0; i < CHAINS; i++) {                                                        \
                _Pragma("unroll") for (int j = 0; j < COUNT; j++) asm volatile(text : "+r"(a[(i + j) % 8]), "+l"(w[i]), "+d"(d[i]) \
                             : "r"(p), "r"(q), "r"(r), "r"(u), "l"(g), "r"(s), "r"(l), "d"(e), "l"(same), "l"(g + threadIdx.x), "r"(2 * s), "l"(g + 3 * threadIdx.x), "r"(4 * s)); \
                _Pragma("unroll") for (int j = 0; j < FILLS; j++) { FILL }                                              \
            }                                                                                                           \
        }                                                                                                               \
        __syncthreads();                                                                                                \
        i64 end = now();                                                                                                \
        float sum = (float)shared[s & 511];                                                                             \
        for (int i = 0; i < 8; i++) sum += (float)a[i] + (float)b[i] + (float)w[i] + (float)d[i] + f[i];                \
        out[threadIdx.x] = (int)sum;                                                                                    \
        if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 16] = start, cycles[threadIdx.x / 16 + 1] = end;                \
    }
OPS(KERNEL)

static double nothing[9][9];

static void measure(const char *name, void (*kernel)(i64 *, int *, const int *, int), int *out, const int *in, int fills, int count) {
    char text[64];
    for (int warps = 4; warps <= 8; warps += 4) {
        i64 *cycles = cycles_buffer();
        for (int i = 0; i < 3; i++) kernel<<<1, 128 * warps>>>(cycles, out, in, 5);
        i64 times[64], begin = INT64_MAX, end = 0;
        CHECK(cudaMemcpy(times, cycles, sizeof times, cudaMemcpyDeviceToHost));
        for (int w = 0; w < 4 * warps; w++) begin = std::min(begin, times[2 * w]), end = std::max(end, times[2 * w + 1]);
        double each = (double)(end - begin) / (TURNS * CHAINS * warps);
        bool first = !strcmp(name, "nothing");
        if (first) nothing[fills][warps] = each;
        snprintf(text, sizeof text, count > 1 ? "held/%s_x%d/%d/%d_warps" : "held/%s%.0d/%d/%d_warps", name, count > 1 ? count : 0, 12 * fills, 4 * warps);
        report(text, first ? each : each - nothing[fills][warps], "cycles", "");
    }
}

#define MEASURE(name, text) measure(#name, run_##name<1, 1>, out, in, 1, 1), measure(#name, run_##name<2, 1>, out, in, 2, 1);
#define ROW(name, fills, count) measure(#name, run_##name<fills, count>, out, in, fills, count);
#define ROWS(name) ROW(name, 2, 2) ROW(name, 4, 2) ROW(name, 4, 4) ROW(name, 8, 2) ROW(name, 8, 4) ROW(name, 8, 8)

int main() {
    int *out, *in;
    static int words[4096];
    CHECK(cudaMalloc(&out, 1 << 20));
    CHECK(cudaMalloc(&in, sizeof words));
    for (int i = 0; i < 4096; i++) words[i] = i * 7;
    CHECK(cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice));
    OPS(MEASURE)
    ROW(nothing, 4, 1) ROW(nothing, 8, 1)
    ROWS(ex2)
    return 0;
}
