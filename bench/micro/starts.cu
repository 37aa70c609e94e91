// SPDX-License-Identifier: Apache-2.0
// What warps wait for that begin at once: kernels that read special registers, parameters and shared memory first, with
// one to eight CTAs of 256 threads on each SM; and branches that are direct, through a table, calls and returns. To be
// run under Nsight Compute, which counts the cycles of each reason (the command is in bench/hwref/README.md).
#include "micro.h"

struct Lines {
    unsigned words[256];
};
#define KERNEL(name) __global__ void name(unsigned *out, Lines lines)
#define USE(x) asm volatile("" ::"r"(x))
#define SPECIAL(reg) asm volatile("{ .reg .u32 t; mov.u32 t, " reg "; add.u32 %0, %0, t; }" : "+r"(sum))
// Kept alive without being stored.
#define KEEP(x) \
    if ((x) == 0x12345678u) asm volatile("trap;")

KERNEL(nothing) {}
KERNEL(special_1) {
    unsigned sum = 0;
    SPECIAL("%tid.x");
    KEEP(sum);
}
KERNEL(special_4) {
    unsigned sum = 0;
    SPECIAL("%tid.x");
    SPECIAL("%laneid");
    SPECIAL("%warpid");
    SPECIAL("%smid");
    KEEP(sum);
}
KERNEL(pointer) { KEEP((unsigned)(unsigned long long)out + threadIdx.x); }
KERNEL(words_1) { KEEP(lines.words[0] + threadIdx.x); }
KERNEL(lines_2) { KEEP(lines.words[0] + lines.words[64] + threadIdx.x); }
KERNEL(lines_4) { KEEP(lines.words[0] + lines.words[64] * 3 + lines.words[128] * 5 + lines.words[192] * 7 + threadIdx.x); }
KERNEL(indexed) { KEEP(lines.words[threadIdx.x / 256 + threadIdx.y]); }
KERNEL(stored) {
    __shared__ unsigned words[256];
    words[threadIdx.x] = threadIdx.x;
    asm volatile("" ::"l"(words) : "memory");
}
KERNEL(sizes) { KEEP(blockIdx.x * blockDim.x + threadIdx.x); }
KERNEL(sizes_2) { KEEP((blockIdx.x * blockDim.x + threadIdx.x) ^ (gridDim.x * 5 + blockDim.y * 3 + blockIdx.y)); }
KERNEL(busy_first) {
    float x = 1.0f;
    for (int k = 0; k < 128; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    KEEP(__float_as_uint(x) + threadIdx.x);
}

// --- branches: 64 turns ----------------------------------------------------------------------------------------------
__device__ __noinline__ void called_1(float &x) { asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x)::"memory"); }
__device__ __noinline__ void called_2(float &x) { asm volatile("add.f32 %0, %0, %0;" : "+f"(x)::"memory"); }
KERNEL(turns) {
    float x = (float)threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 64; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x)::"memory");
    KEEP(__float_as_uint(x));
}
KERNEL(calls) {
    float x = (float)threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 64; k++) called_1(x);
    KEEP(__float_as_uint(x));
}
KERNEL(calls_twice) {
    float x = (float)threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 64; k++) called_1(x), called_2(x);
    KEEP(__float_as_uint(x));
}
KERNEL(calls_pointer) {
    float x = (float)threadIdx.x;
    void (*to[2])(float &) = {called_1, called_2};
#pragma unroll 1
    for (int k = 0; k < 64; k++) to[k & 1](x);
    KEEP(__float_as_uint(x));
}
KERNEL(table) {
    unsigned x = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        asm volatile("{ .reg .u32 t; and.b32 t, %1, 7;\n"
                     "LIST%=: .branchtargets C0%=, C1%=, C2%=, C3%=, C4%=, C5%=, C6%=, C7%=;\n"
                     "brx.idx.uni t, LIST%=;\n"
                     "C0%=: xor.b32 %0, %0, 77; bra.uni E%=;\n"
                     "C1%=: add.u32 %0, %0, 12; bra.uni E%=;\n"
                     "C2%=: and.b32 %0, %0, 0xfff7777; bra.uni E%=;\n"
                     "C3%=: or.b32 %0, %0, 13; bra.uni E%=;\n"
                     "C4%=: mul.lo.u32 %0, %0, 15; bra.uni E%=;\n"
                     "C5%=: shl.b32 %0, %0, 3; bra.uni E%=;\n"
                     "C6%=: sub.u32 %0, %0, 99; bra.uni E%=;\n"
                     "C7%=: not.b32 %0, %0;\n"
                     "E%=: }\n"
                     : "+r"(x) : "r"(k) : "memory");
    }
    KEEP(x);
}
// One, two and four sides that half of the lanes take; they meet behind each.
template <int sides> KERNEL(parting) {
    float x = (float)threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
#pragma unroll
        for (int s = 0; s < sides; s++) {
            if (threadIdx.x >> s & 1)
                asm volatile("fma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\n"
                             "fma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\n"
                             "fma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\nfma.rn.f32 %0, %0, %0, %0;\n" : "+f"(x)::"memory");
            asm volatile("add.f32 %0, %0, %0;" : "+f"(x)::"memory");
        }
    }
    KEEP(__float_as_uint(x));
}

typedef void Kernel(unsigned *, Lines);

int main() {
    unsigned *out;
    CHECK(cudaMalloc(&out, 1 << 20));
    Lines lines = {};
    Kernel *starts[] = {nothing, special_1, special_4, pointer, words_1, lines_2, lines_4, indexed, stored, sizes, sizes_2, busy_first};
    for (Kernel *k : starts)
        for (int ctas = 1; ctas <= 8; ctas *= 2) k<<<132 * ctas, 256>>>(out, lines);
    // Fewer SMs.
    Kernel *few[] = {nothing, pointer, words_1, lines_4, sizes};
    for (Kernel *k : few)
        for (int ctas = 1; ctas < 132; ctas *= 2) k<<<ctas, 256>>>(out, lines);
    Kernel *branches[] = {turns, calls, calls_twice, calls_pointer, table, parting<1>, parting<2>, parting<4>};
    for (Kernel *k : branches)
        for (int threads = 32; threads <= 1024; threads *= (threads == 32 ? 4 : 8)) k<<<132, threads>>>(out, lines);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
