// SPDX-License-Identifier: Apache-2.0
// Code that no cache of an SM holds: when a warp comes to each of its lines. Every line of 128 bytes reads the clock
// once (CS2R, SEL) and has six other instructions: independent products, a chain of products or of powers; or jumps
// lie between the lines, to the fourth or sixteenth line on, over code that is never executed.
// The first row of a launch is warp 0 of block 0, then the last warp of block 0. Run it alone (other code and 512 MiB
// go through the caches between launches) and under `ncu --cache-control all`, which leaves all caches empty:
//   ncu --clock-control none --csv --page raw --metrics ...stalled_no_instruction... ./cold_code once
#include <string>

#include "micro.h"

enum { STAMPS = 96 };

// For lanes that the compiler does not know: into vector registers (CS2R), what is alike in all lanes goes another way.
#define STAMP(k)                                                                                                      \
    asm volatile("{.reg .pred p;\nsetp.lt.u32 p, %1, %2;\n@p mov.u32 %0, %%clock;\n}"                                \
                 : "+r"(t[k]) : "r"(threadIdx.x), "r"(lanes) : "memory");
#define FMA(x) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
#define EX2(x) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
#define FREE FMA(a) FMA(b) FMA(c) FMA(d) FMA(e) FMA(f)
#define CHAIN FMA(a) FMA(a) FMA(a) FMA(a) FMA(a) FMA(a)
#define SLOW EX2(a) EX2(a) EX2(a) EX2(a) EX2(a) EX2(a)
#define NONE
#define X8(m) m m m m m m m m
#define X3(m) m m m
#define PRODUCT "fma.rn.f32 %0, %0, %0, %0;\n"
#define FIVE PRODUCT PRODUCT PRODUCT PRODUCT PRODUCT
#define LINES3 X3(X8(PRODUCT))
#define OVER(code)                                                                                                \
    asm volatile("{.reg .pred p;\nsetp.eq.s32 p, %1, 0;\n@p bra SKIP;\n" code "SKIP:\n}" : "+f"(h) : "r"(zero) \
                 : "memory");
#define OVER4 OVER(FIVE LINES3)
#define OVER16 OVER(FIVE X3(LINES3) LINES3 LINES3)

#define S8(k, w) \
    STAMP(k) w STAMP(k + 1) w STAMP(k + 2) w STAMP(k + 3) w STAMP(k + 4) w STAMP(k + 5) w STAMP(k + 6) w STAMP(k + 7) w
#define S96(w) \
    S8(0, w) S8(8, w) S8(16, w) S8(24, w) S8(32, w) S8(40, w) S8(48, w) S8(56, w) S8(64, w) S8(72, w) S8(80, w) S8(88, w)

#define KERNEL(name, work)                                                                                         \
    __global__ void name(unsigned *stamps, float *out, int zero, unsigned lanes) {                                                 \
        unsigned t[STAMPS] = {0};                                                                                  \
        float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;        \
        S96(work)                                                                                                  \
        if (blockIdx.x == 0 && (threadIdx.x == 0 || threadIdx.x == blockDim.x - 1)) {                              \
            unsigned *to = stamps + (threadIdx.x ? STAMPS : 0);                                                    \
            _Pragma("unroll") for (int k = 0; k < STAMPS; k++) to[k] = t[k];                                       \
        }                                                                                                          \
        if (zero) out[threadIdx.x] = a + b + c + d + e + f + g + h;                                                \
    }
KERNEL(independent, FREE)
KERNEL(chain, CHAIN)
KERNEL(slow, SLOW)
KERNEL(over_4, OVER4)
KERNEL(over_16, OVER16)

// More code than the caches of an SM hold.
__global__ void others(float *out) {
    float a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    X8(X8(X8(FREE FREE FREE FREE)))
    out[threadIdx.x] = a + b + c + d + e + f + g;
}

static unsigned *stamps, host[2 * STAMPS];
static float *out, *large;

typedef void Kernel(unsigned *, float *, int, unsigned);

static void measure(const char *name, Kernel *kernel, int blocks, int warps, const char *caches) {
    CHECK(cudaMemset(stamps, 0, sizeof host));
    if (*caches == 'o' || *caches == 'e') others<<<1056, 32>>>(out);
    if (*caches == 'e') CHECK(cudaMemset(large, 0, 512 << 20));
    kernel<<<blocks, 32 * warps>>>(stamps, out, 0, 1024);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, stamps, sizeof host, cudaMemcpyDeviceToHost));
    for (int row = 0; row < (warps > 1 ? 2 : 1); row++) {
        printf("cold_code/%s/%d_blocks/%d_warps/%s/%s\t", name, blocks, warps, caches, row ? "last" : "first");
        for (int k = 0; k < STAMPS; k++) printf("%u ", host[row * STAMPS + k] - host[0]);
        printf("\tcycles\tfrom the first line\n");
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        Kernel *kernel;
    } kernels[] = {{"independent", independent}, {"chain", chain}, {"slow", slow}, {"over_4", over_4}, {"over_16", over_16}};
    static const int shapes[][2] = {{1, 1}, {1, 4}, {1, 16}, {132, 1}, {132, 16}};
    bool once = argc > 1 && std::string(argv[1]) == "once";
    CHECK(cudaMalloc(&stamps, sizeof host));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMalloc(&large, 512 << 20));
    for (auto &k : kernels)
        for (auto &s : shapes) {
            measure(k.name, k.kernel, s[0], s[1], once ? "given" : "empty");
            if (once) continue;
            measure(k.name, k.kernel, s[0], s[1], "others");
            measure(k.name, k.kernel, s[0], s[1], "warm");
        }
    return 0;
}
