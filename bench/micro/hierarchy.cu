// SPDX-License-Identifier: Apache-2.0
// The memory system behind the SMs: atomics, DRAM by granularity and stride, L2 bandwidth by access, capacity, latency
// of lines, stores and fences. Where a kernel computes its next address with a 64-bit remainder, that costs it some 50
// cycles, which are part of the latencies of atomics and bound what few warps reach.
#include "micro.h"
#include <algorithm>
#include <cstring>
#include <vector>
static int sm_count;
static char *device;
static size_t device_bytes;
__device__ __host__ static inline u64 mix(u64 v) {
    v += 0x9e3779b97f4a7c15ull;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ v >> 27) * 0x94d049bb133111ebull;
    return v ^ v >> 31;
}
__device__ static inline u64 ld_cg(u64 p) {
    u64 n;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(n) : "l"(p) : "memory");
    return n;
}

// ---- atomics. word of lane = (lane * step / degree...) given by shape
// shape: words = 32 / degree distinct words per warp; `apart` bytes between them. Warps `warp_apart`, blocks
// `block_apart`, rounds `round_apart` modulo `wrap`.
template <bool RESULT>
__global__ void atoms(char *data, int degree, i64 apart, i64 warp_apart, i64 block_apart, i64 round_apart, i64 wrap,
                      int rounds, i64 *cycles, unsigned *sink) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    i64 base = warp * warp_apart + blockIdx.x * block_apart, word = (lane / degree) * apart;
    unsigned v = 0;
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < rounds; i++) {
        unsigned *p = (unsigned *)(data + (base + i * round_apart) % wrap + word);
        if (RESULT)
            v = atomicAdd(p, v | 1);
        else
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(i | 1) : "memory");
    }
    if (!RESULT) __threadfence();
    __syncthreads();
    i64 end = now();
    if (v == 0xdeadbeef) *sink = v;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}
static void atomics() {
    unsigned *sink = (unsigned *)(device + (1ull << 30));
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    for (int degree = 1; degree <= 32; degree *= 2) {
        atoms<true><<<1, 32>>>(device, degree, 4, 0, 0, 0, 1 << 20, 256, cycles, sink);
        snprintf(text, sizeof text, "atomic/latency/one_line/degree_%d", degree);
        report(text, cycles_read(cycles, 0) / 256.0, "cycles", "one warp, 32/degree neighbouring words");
    }
    for (int lines = 1; lines <= 32; lines *= 2) {
        atoms<true><<<1, 32>>>(device, 1,
                               lines == 1             ? 4
                               : 128 * lines / 32 < 4 ? 4
                                                      : 128 * lines / 32,
                               0, 0, 0, 1 << 20, 256, cycles, sink);
        snprintf(text, sizeof text, "atomic/latency/own_words/lines_%d", lines);
        report(text, cycles_read(cycles, 0) / 256.0, "cycles", "one warp, 32 words over so many lines");
    }
    static const struct {
        const char *name;
        int degree;
        i64 apart, warp;
    } shapes[] = {{"one_word_all_warps", 32, 0, 0},
                  {"word_per_warp", 32, 0, 4096},
                  {"line_all_warps", 1, 4, 0},
                  {"line_per_warp", 1, 4, 4096},
                  {"degree4_line_per_warp", 4, 4, 4096},
                  {"sector_per_lane", 1, 32, 4096},
                  {"line_per_lane", 1, 128, 4096 + 128 * 5}};
    for (auto &s : shapes)
        for (int warps = 1; warps <= 32; warps *= 2)
            for (int result = 0; result < 2; result++) {
                if (result)
                    atoms<true><<<1, warps * 32>>>(device, s.degree, s.apart, s.warp, 0, 0, 1 << 24, 64, cycles, sink);
                else
                    atoms<false><<<1, warps * 32>>>(device, s.degree, s.apart, s.warp, 0, 0, 1 << 24, 64, cycles, sink);
                snprintf(text, sizeof text, "atomic/one_sm/%s/%s/%d_warps", result ? "atom" : "red", s.name, warps);
                report(text, (double)cycles_read(cycles, 0) / (64.0 * warps), "cycles/warp atomic", "one SM");
            }
    static const struct {
        const char *name;
        int degree;
        i64 apart;
    } wide[] = {{"line", 1, 4}, {"one_word", 32, 0}, {"degree8", 8, 4}, {"sector", 4, 4}, {"32_lines", 1, 128}};
    for (auto &s : wide)
        for (int warps = 4; warps <= 32; warps *= 2)
            for (int result = 0; result < 2; result++) {
                // every round other lines of 16 MiB, spread evenly
                if (result)
                    atoms<true><<<sm_count, warps * 32>>>(device, s.degree, s.apart, 132 * 4096, 4096, 128 * 10007,
                                                          16 << 20, 64, cycles, sink);
                else
                    atoms<false><<<sm_count, warps * 32>>>(device, s.degree, s.apart, 132 * 4096, 4096, 128 * 10007,
                                                           16 << 20, 64, cycles, sink);
                cycles_range(cycles, sm_count, &low, &high);
                snprintf(text, sizeof text, "atomic/all_sms/%s/%s/%d_warps", result ? "atom" : "red", s.name, warps);
                report(text, (double)sm_count * warps * 64 / (double)high, "warp atomics/cycle", "16 MiB, evenly");
            }
}

// ---- DRAM by granularity: chunks of g bytes at random places
template <int G, int MODE>
__global__ void chunks(const char *data, char *to, u64 chunk_count, int rounds, unsigned *sink) {
    constexpr int lanes = G / 16 > 32 ? 32 : G / 16, pieces = G / 512 < 1 ? 1 : G / 512;
    u64 thread = blockIdx.x * (u64)blockDim.x + threadIdx.x, group = thread / lanes,
        groups = gridDim.x * (u64)blockDim.x / lanes;
    unsigned within = threadIdx.x % lanes;
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (int r = 0; r < rounds; r += 4) {
        uint4 v[4];
        for (int piece = 0; piece < pieces; piece++) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u64 at = mix(group + (u64)(r + k) * groups) % chunk_count * G + piece * 512 + within * 16;
                if (MODE == 1)
                    *(uint4 *)(to + at) = make_uint4(r, k, 1, 2);
                else
                    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                                 : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                                 : "l"(data + at));
            }
            if (MODE != 1)
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    if (MODE == 2)
                        *(uint4 *)(to + mix(group + (u64)(r + k) * groups) % chunk_count * G + piece * 512 +
                                   within * 16) = v[k];
                    else
                        sum.x += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
                }
        }
    }
    if (sum.x == 12345) *sink = 1;
}
template <int G> static void granularity(size_t footprint) {
    static const char *modes[] = {"read", "write", "copy"};
    char text[128];
    for (int mode = 0; mode < 3; mode++) {
        int blocks = sm_count * 2, threads = 1024, rounds = G >= 1024 ? 32 : 128;
        double bytes = (double)blocks * threads * 16 * rounds * (G / 512 < 1 ? 1 : G / 512);
        cudaEvent_t a, b;
        float ms, best = 1e9;
        cudaEventCreate(&a);
        cudaEventCreate(&b);
        for (int run = 0; run < 3; run++) {
            cudaEventRecord(a);
            char *to = device + device_bytes / 2;
            if (mode == 0)
                chunks<G, 0>
                    <<<blocks, threads>>>(device, to, footprint / G, rounds, (unsigned *)(device + device_bytes - 64));
            if (mode == 1)
                chunks<G, 1>
                    <<<blocks, threads>>>(device, to, footprint / G, rounds, (unsigned *)(device + device_bytes - 64));
            if (mode == 2)
                chunks<G, 2>
                    <<<blocks, threads>>>(device, to, footprint / G, rounds, (unsigned *)(device + device_bytes - 64));
            cudaEventRecord(b);
            CHECK(cudaEventSynchronize(b));
            cudaEventElapsedTime(&ms, a, b);
            if (ms < best) best = ms;
        }
        snprintf(text, sizeof text, "dram/random_%s/%d_bytes/%zu_MiB", modes[mode], G, footprint >> 20);
        report(text, bytes * (mode == 2 ? 2 : 1) / best * 1e-6, "GB/s", "chunks at random places, all SMs");
    }
}
static void dram() {
    for (size_t footprint : {size_t(512) << 20, size_t(2) << 30}) {
        granularity<32>(footprint);
        granularity<64>(footprint);
        granularity<128>(footprint);
        granularity<256>(footprint);
        granularity<512>(footprint);
        granularity<1024>(footprint);
        granularity<2048>(footprint);
        granularity<4096>(footprint);
    }
}

// ---- one sector of every `stride` bytes, all over 2 GiB, by all SMs in order
__global__ void strided(const char *data, u64 count, u64 stride, unsigned *sink) {
    unsigned sum = 0;
    u64 step = gridDim.x * (u64)blockDim.x;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += 4 * step) {
        unsigned v[4] = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < count)
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(data + (i + k * step) * stride));
        sum += v[0] ^ v[1] ^ v[2] ^ v[3];
    }
    if (sum == 12345) *sink = 1;
}
static void strides() {
    char text[128];
    for (u64 stride = 32; stride <= 8192; stride *= 2) {
        u64 bytes = 2ull << 30;
        cudaEvent_t a, b;
        float ms, best = 1e9;
        cudaEventCreate(&a);
        cudaEventCreate(&b);
        for (int run = 0; run < 3; run++) {
            cudaMemsetAsync(device + (3ull << 30), run, 256 << 20);
            cudaEventRecord(a);
            strided<<<sm_count * 2, 1024>>>(device, bytes / stride, stride, (unsigned *)(device + device_bytes - 64));
            cudaEventRecord(b);
            CHECK(cudaEventSynchronize(b));
            cudaEventElapsedTime(&ms, a, b);
            if (ms < best) best = ms;
        }
        snprintf(text, sizeof text, "dram/stride_read/%llu", stride);
        report(text, (double)bytes / stride * 32 / best * 1e-6, "GB/s of 32-byte sectors",
               "one word of every stride bytes");
    }
}

// ---- latency step by step: fetch granularity, rows
__global__ void steps(char *data, u64 stride, int count, unsigned *out, u64 *sink) {
    u64 p = (u64)data;
    for (int i = 0; i < count; i++) {
        i64 begin = now();
        u64 v = ld_cg(p);
        p += stride + (v & 1);
        out[i] = (unsigned)(now() - begin);
    }
    *sink = p;
}
static void latency() {
    unsigned *out;
    u64 *sink;
    CHECK(cudaMalloc(&out, 1 << 20));
    CHECK(cudaMalloc(&sink, 64));
    std::vector<unsigned> h(4096);
    for (u64 stride : {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}) {
        CHECK(cudaMemset(device, 0, 512 << 20));
        steps<<<1, 1>>>(device + (1ull << 30), stride, 64, out, sink);  // code and TLB
        CHECK(cudaMemset(device + (1ull << 30), 0, 512 << 20));
        CHECK(cudaDeviceSynchronize());
        steps<<<1, 1>>>(device, stride, 4096, out, sink);
        CHECK(cudaMemcpy(h.data(), out, 4096 * 4, cudaMemcpyDeviceToHost));
        char name[64];
        double sum = 0;
        for (unsigned v : h) sum += v;
        snprintf(name, sizeof name, "dram/latency_sequential/%llu", stride);
        report(name, sum / 4096, "cycles", "one thread, cold, mean of 4096");
    }
}

// ---- latency of each line from some SMs
__global__ void line_latency(char *data, u64 stride, int count, unsigned *out, u64 *sink) {
    for (int turn = 0; turn < (int)gridDim.x; turn++) {
        if (turn == (int)blockIdx.x) {
            for (int i = 0; i < count; i++) {
                u64 p = (u64)data + i * stride;
                unsigned best = ~0u;
                for (int k = 0; k < 6; k++) {
                    i64 begin = now();
                    u64 q = p;
                    for (int j = 0; j < 4; j++) q = p + (ld_cg(q) & 8);
                    if (q == 1) *sink = q;
                    unsigned t = (unsigned)(now() - begin) / 4;
                    if (k && t < best) best = t;
                }
                out[blockIdx.x * count + i] = best;
            }
            __threadfence();
        }
        __nanosleep(1000);
        // keep blocks in turn
        for (i64 begin = now(); now() - begin < 6ll * 4 * 420 * count && turn < (int)blockIdx.x;) __nanosleep(1000);
    }
}
static void lines() {
    unsigned *out;
    u64 *sink;
    int count = 192;
    CHECK(cudaMalloc(&out, sm_count * count * 4));
    CHECK(cudaMalloc(&sink, 64));
    CHECK(cudaMemset(device, 0, 64 << 20));
    line_latency<<<sm_count, 1>>>(device, 4096 + 128, count, out, sink);
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> h(sm_count * count);
    CHECK(cudaMemcpy(h.data(), out, h.size() * 4, cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    for (int q = 0; q <= 10; q++) {
        char t[64];
        snprintf(t, sizeof t, "l2/latency_quantile/%d", q * 10);
        report(t, h[std::min(h.size() - 1, h.size() * q / 10)], "cycles", "all SMs, 192 lines");
    }
}

// ---- L2 bandwidth
template <int BYTES, int STORE>
__global__ void l2_kernel(char *data, u64 footprint, u64 per_warp_stride, int rounds, i64 *cycles, unsigned *sink) {
    // each warp walks lines; 8 accesses in flight
    u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32, warps = gridDim.x * (u64)blockDim.x / 32;
    unsigned lane = threadIdx.x % 32, sum = 0;
    u64 at = warp * per_warp_stride;
    __syncthreads();
    i64 begin = now();
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            char *p = data + at % footprint + lane * BYTES;
            at += warps * per_warp_stride;
            if (STORE) {
                if (BYTES == 16)
                    *(uint4 *)p = make_uint4(r, k, 0, 0);
                else if (BYTES == 32)
                    *(unsigned *)p = r;
                else
                    *(unsigned *)p = r;
            } else if (BYTES == 16) {
                uint4 v;
                asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                             : "l"(p));
                sum += v.x ^ v.y ^ v.z ^ v.w;
            } else {
                unsigned v;
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
                sum += v;
            }
        }
    }
    __syncthreads();
    i64 end = now();
    if (sum == 12345) *sink = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}
template <int BYTES, int STORE> static void l2_case(const char *name, int sector_bytes) {
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    u64 stride = 32 * BYTES;
    for (u64 footprint : {4ull << 20, 16ull << 20, 30ull << 20})
        for (int blocks : {1, 2, 8, 16, 33, 66, 132})
            for (int threads : {256, 1024}) {
                if (threads == 256 && blocks != 1 && blocks != 132) continue;
                int rounds = 64;
                l2_kernel<BYTES, STORE>
                    <<<132, 1024>>>(device, footprint, stride, rounds, cycles, (unsigned *)(device + (1ull << 30)));
                l2_kernel<BYTES, STORE><<<blocks, threads>>>(device, footprint, stride, rounds, cycles,
                                                             (unsigned *)(device + (1ull << 30)));
                cycles_range(cycles, blocks, &low, &high);
                snprintf(text, sizeof text, "l2/%s/%llu_MiB/%d_blocks/%d_threads", name, footprint >> 20, blocks,
                         threads);
                report(text, (double)blocks * threads * rounds * 8 * sector_bytes / (double)high, "bytes/cycle", "");
            }
}
static void l2() {
    l2_case<16, 0>("read_16", 16);
    l2_case<4, 0>("read_4", 4);
    l2_case<32, 0>("read_sector_per_lane", 32);
    l2_case<128, 0>("read_sector_of_line_per_lane", 32);
    l2_case<16, 1>("write_16", 16);
    l2_case<4, 1>("write_4", 4);
    l2_case<32, 1>("write_word_of_sector", 32);
}

// ---- L2 capacity: warm twice
__global__ void chase(u64 start, u64 warm, int count, i64 *cycles, u64 *out) {
    u64 p = start;
    for (u64 i = 0; i < warm; i++) p = ld_cg(p);
    i64 begin = now();
    for (int i = 0; i < count; i++) p = ld_cg(p);
    cycles[0] = now() - begin;
    *out = p;
}
__global__ void ring(char *data, u64 count, u64 stride, u64 step) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (u64)blockDim.x)
        *(u64 *)(data + i * stride) = (u64)(data + (i + step) % count * stride);
}
__global__ void warm_all(const char *data, u64 bytes, unsigned *sink) {
    unsigned sum = 0;
    for (u64 i = (blockIdx.x * (u64)blockDim.x + threadIdx.x) * 32; i < bytes; i += gridDim.x * (u64)blockDim.x * 32) {
        unsigned v;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(data + i));
        sum += v;
    }
    if (sum == 12345) *sink = sum;
}
static void capacity() {
    i64 *cycles = cycles_buffer();
    char text[64];
    for (int m : {2, 8, 16, 20, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72}) {
        u64 count = (u64)m << 13, step = count / 2 + 1;
        ring<<<132, 1024>>>(device, count, 128, step | 1);
        chase<<<1, 1>>>((u64)device, count * 2, 32768, cycles, (u64 *)(cycles + 100));
        snprintf(text, sizeof text, "l2/capacity/one_sm/%d_MiB", m);
        report(text, cycles_read(cycles, 0) / 32768.0, "cycles", "chase of one thread after two passes");
        for (int i = 0; i < 3; i++) warm_all<<<132, 1024>>>(device, (u64)m << 20, (unsigned *)(device + (1ull << 30)));
        cudaEvent_t a, b;
        float ms;
        cudaEventCreate(&a);
        cudaEventCreate(&b);
        cudaEventRecord(a);
        for (int i = 0; i < 4; i++) warm_all<<<132, 1024>>>(device, (u64)m << 20, (unsigned *)(device + (1ull << 30)));
        cudaEventRecord(b);
        CHECK(cudaEventSynchronize(b));
        cudaEventElapsedTime(&ms, a, b);
        snprintf(text, sizeof text, "l2/capacity/all_sms/%d_MiB", m);
        report(text, 4.0 * m * 1048576 / ms * 1e-6, "GB/s",
               "a word of each sector by all SMs, again and again, launches included");
    }
}

// ---- stores and fences
__global__ void store_fence(unsigned *p, int stores, i64 stride, int rounds, i64 *cycles) {
    i64 begin = now();
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < stores; k++) *(volatile unsigned *)((char *)p + k * stride) = i;
        __threadfence();
    }
    cycles[0] = now() - begin;
}
static void fences() {
    i64 *cycles = cycles_buffer();
    char text[64];
    for (int stores : {0, 1, 2, 4, 8, 16, 64}) {
        store_fence<<<1, 1>>>((unsigned *)device, stores, 128, 64, cycles);
        snprintf(text, sizeof text, "fence/gpu/%d_stores", stores);
        report(text, cycles_read(cycles, 0) / 64.0, "cycles", "stores to lines that the L2 has, then __threadfence");
    }
}

int main() {
    device_bytes = 8ull << 30;
    cudaDeviceProp props;
    CHECK(cudaGetDeviceProperties(&props, 0));
    sm_count = props.multiProcessorCount;
    CHECK(cudaMalloc(&device, device_bytes));
    CHECK(cudaMemset(device, 0, device_bytes));
    latency();
    fences();
    l2();
    dram();
    strides();
    capacity();
    atomics();
    lines();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
