// SPDX-License-Identifier: Apache-2.0
// In which order DRAM and L2 are read, and what that costs. Chunks of 32 to 512 bytes, all SMs, bytes of the chunks a
// second:
//   order/G/windows/W   chunks in order, but shuffled within windows of W bytes; 1 GiB once
//   order/G/l2/...      16 MiB 64 times, all in the L2, in order or shuffled
//   order/G/warps_N     shuffled all over 1 GiB, N warps of an SM
//   order/G/pairs/B     sectors at random places, each with the one beside it whose address differs in bit B
//   order/G/pairs/B_C   ... in bits B and C
//   order/writes/G      chunks at random places are written
// `dram_order counted`: few of them, for Nsight Compute.
#include "micro.h"

static int sms;
static char *data;
static unsigned *sink;
static bool counted;
enum { LOADS = 8 };

// A permutation of the numbers of `bits` bits, of few instructions: an SM has some 60 for each line that DRAM can bring
// it.
__device__ static inline unsigned shuffled(unsigned v, int bits) {
    unsigned mask = (1u << bits) - 1;
    for (int i = 0; i < 2; i++) {
        v = v * 0x9e3779b1u + 0x632be5bbu & mask;
        v ^= v >> (bits + 1) / 2;
    }
    return v;
}

// Chunks of G bytes, 16 bytes a lane; `bits` of their numbers are shuffled, `mask`: of the bytes that are there.
template <int G, bool WRITE>
__global__ void chunks(char *data, unsigned count, int bits, unsigned mask, unsigned *sink) {
    constexpr unsigned lanes = G / 16;
    unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, groups = gridDim.x * blockDim.x / lanes, sum = 0;
    char *own = data + threadIdx.x % lanes * 16;
    for (unsigned i = group; i < count; i += LOADS * groups) {
        uint4 v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            unsigned n = i + k * groups, low = n & (1u << bits) - 1;
            char *at = own + ((((n - low) + shuffled(low, bits)) * G) & mask);
            if (WRITE)
                asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(at), "r"(1u) : "memory");
            else
                asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                             : "l"(at));
        }
        if (!WRITE)
#pragma unroll
            for (int k = 0; k < LOADS; k++) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (sum == 12345) *sink = 1;
}

// Chunks at random places, neighbouring groups of lanes two whose addresses differ in `bits`.
template <int G> __global__ void pairs(char *data, unsigned count, int window, unsigned bits, unsigned *sink) {
    constexpr unsigned lanes = G / 16;
    unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, groups = gridDim.x * blockDim.x / lanes, sum = 0;
    char *own = data + threadIdx.x % lanes * 16;
    unsigned odd = group & 1 ? bits : 0;
    for (unsigned i = group; i < count; i += LOADS * groups) {
        uint4 v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            unsigned at = shuffled(i + k * groups >> 1, window) * G ^ odd;
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                         : "l"(own + at));
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (sum == 12345) *sink = 1;
}

template <typename F> static double best_of(F launch) { return ns_of(launch, counted ? 1 : 3); }

static int log2_of(u64 v) { return 63 - __builtin_clzll(v); }

// Bytes that are read when groups go on until their first chunk is beyond `count`.
template <int G> static double bytes_of(u64 count, int threads) {
    u64 groups = sms * 2ull * threads / (G / 16), turn = LOADS * groups, rest = count % turn;
    return (double)(count / turn * groups + (rest < groups ? rest : groups)) * LOADS * G;
}

template <int G> static void order(const char *name, u64 bytes, u64 window, u64 wrap, int threads) {
    u64 count = bytes / G;
    int bits = window > G ? log2_of(window / G) : 0;
    double ns = best_of([&] { chunks<G, false><<<sms * 2, threads>>>(data, count, bits, wrap - 1, sink); });
    char text[96];
    snprintf(text, sizeof text, "order/%d/%s", G, name);
    report(text, bytes_of<G>(count, threads) / ns, "GB/s", "");
}

template <int G> static void orders() {
    char name[64];
    for (u64 window = G; window <= 1ull << 30; window *= 4) {
        snprintf(name, sizeof name, "windows/%llu", window);
        order<G>(name, 1ull << 30, window, 1ull << 30, 1024);
    }
    order<G>("windows/1073741824", 1ull << 30, 1ull << 30, 1ull << 30, 1024);
    order<G>("l2/in_order", 1ull << 30, G, 16 << 20, 1024);
    order<G>("l2/shuffled", 1ull << 30, 16 << 20, 16 << 20, 1024);
    for (int threads : {64, 128, 256, 512, 1024}) {
        snprintf(name, sizeof name, "warps_%d", threads / 16);
        order<G>(name, 512 << 20, 512 << 20, 512 << 20, threads);
        snprintf(name, sizeof name, "in_order/warps_%d", threads / 16);
        order<G>(name, 512 << 20, G, 512 << 20, threads);
    }
}

template <int G> static void writes() {
    char text[96];
    for (u64 window : {(u64)G, 1ull << 30}) {
        u64 count = (1ull << 30) / G;
        int bits = window > G ? log2_of(window / G) : 0;
        double ns = best_of([&] { chunks<G, true><<<sms * 2, 1024>>>(data, count, bits, (1u << 30) - 1, sink); });
        snprintf(text, sizeof text, "order/writes/%d/windows/%llu", G, window);
        report(text, bytes_of<G>(count, 1024) / ns, "GB/s", "");
    }
}

template <int G> static void pair(u64 bits, const char *name) {
    u64 bytes = 1ull << 29, count = bytes / G;  // half as many places as there are
    int window = log2_of((1u << 30) / G);
    double ns = best_of([&] { pairs<G><<<sms * 2, 1024>>>(data, count, window, bits, sink); });
    char text[96];
    snprintf(text, sizeof text, "order/%d/pairs/%s", G, name);
    report(text, bytes_of<G>(count, 1024) / ns, "GB/s", "");
}

template <int G> static void all_pairs() {
    char name[32];
    for (int b = log2_of(G); b < 30; b++) {
        snprintf(name, sizeof name, "%d", b);
        pair<G>(1ull << b, name);
    }
    for (int b = 8; G == 64 && b < 16; b++)
        for (int c = b + 1; c < 18; c++) {
            snprintf(name, sizeof name, "%d_%d", b, c);
            pair<G>(1ull << b | 1ull << c, name);
        }
}

int main(int argc, char **) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sms = properties.multiProcessorCount;
    CHECK(cudaMalloc(&data, 1ull << 30));
    CHECK(cudaMemset(data, 0, 1ull << 30));
    CHECK(cudaMalloc(&sink, 4));
    counted = argc > 1;
    if (counted) {
        order<32>("shuffled", 256 << 20, 1 << 30, 1 << 30, 1024);
        order<64>("shuffled", 256 << 20, 1 << 30, 1 << 30, 1024);
        order<128>("shuffled", 256 << 20, 1 << 30, 1 << 30, 1024);
        order<128>("in_order", 256 << 20, 128, 1 << 30, 1024);
        order<512>("shuffled", 256 << 20, 1 << 30, 1 << 30, 1024);
        return 0;
    }
    orders<32>();
    orders<64>();
    orders<128>();
    orders<512>();
    writes<32>();
    writes<64>();
    writes<128>();
    all_pairs<64>();
    all_pairs<128>();
    return 0;
}
