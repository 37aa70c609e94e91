// SPDX-License-Identifier: Apache-2.0
// The memory system: latency by pointer chasing over growing footprints, bandwidth of each level for one SM and for all,
// what strides and bank conflicts cost, atomics, constant cache, local memory, texture.
#include "micro.h"

static int sm_count;

// --- latency: one thread follows pointers -------------------------------------------------------------------------
enum Kind { CA, CG, CV, SHARED_, CONST_ };

template <int KIND> __device__ static u64 follow(u64 p) {
    u64 next;
    if (KIND == CA) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
    if (KIND == CG) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
    if (KIND == CV) asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
    return next;
}

template <int KIND> __global__ void chase(u64 start, int warm, int steps, i64 *cycles, u64 *out) {
    u64 p = start;
    for (int i = 0; i < warm; i++) p = follow<KIND>(p);
    i64 begin = now();
    for (int i = 0; i < steps; i++) p = follow<KIND>(p);
    i64 end = now();
    *out = p;
    cycles[blockIdx.x] = end - begin;
}

// A ring of `count` pointers, `stride` bytes apart, in an order that no prefetcher follows (a full-period step).
static u64 make_ring(char *device, size_t count, size_t stride, bool shuffled) {
    char *host = (char *)calloc(count, stride);
    size_t step = shuffled ? count / 2 + 1 : 1;
    for (size_t a = step, b = count; b;) {  // make it coprime
        size_t r = a % b;
        a = b, b = r;
        if (!b && a != 1) a = ++step, b = count;
    }
    for (size_t i = 0; i < count; i++) *(u64 *)(host + i * stride) = (u64)(device + (i + step) % count * stride);
    CHECK(cudaMemcpy(device, host, count * stride, cudaMemcpyHostToDevice));
    free(host);
    return (u64)device;
}

template <int KIND> static double chase_cycles(char *device, size_t bytes, size_t stride) {
    size_t count = bytes / stride;
    i64 *cycles = cycles_buffer();
    u64 start = make_ring(device, count, stride, true);
    int warm = count > 100000 ? 0 : (int)count * 2, steps = count > 4096 ? 8192 : 4096;
    chase<KIND><<<1, 1>>>(start, warm, steps, cycles, (u64 *)(cycles + 1000));
    return (double)cycles_read(cycles, 0) / steps;
}

static void latencies(char *device) {
    static const size_t l1[] = {4, 16, 64, 96, 128, 160, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 320, 512};
    static const size_t l2[] = {1, 4, 8, 16, 20, 24, 25, 28, 32, 40, 48, 50, 56, 60, 64, 96, 128, 256, 512};
    char text[128];
    for (size_t k : l1) {
        snprintf(text, sizeof text, "chase/ca/%zu_KiB", k);
        report(text, chase_cycles<CA>(device, k << 10, 32), "cycles", "ld.global.ca, 32-byte stride");
    }
    for (size_t m : l2) {
        snprintf(text, sizeof text, "chase/cg/%zu_MiB", m);
        report(text, chase_cycles<CG>(device, m << 20, 128), "cycles", "ld.global.cg, 128-byte stride; first pass over what is not warm");
    }
    report("chase/volatile/16_KiB", chase_cycles<CV>(device, 16 << 10, 32), "cycles", "ld.volatile");
}

// L2 latency of one line from every SM: the partition that is near differs.
__global__ void chase_each_sm(u64 start, i64 *cycles, u64 *out) {
    u64 p = start;
    for (int turn = 0; turn < (int)gridDim.x; turn++) {
        if (turn == (int)blockIdx.x) {
            for (int i = 0; i < 8; i++) p = follow<CG>(p);
            i64 begin = now();
            for (int i = 0; i < 256; i++) p = follow<CG>(p);
            cycles[blockIdx.x] = (now() - begin) / 256;
        }
        __nanosleep(2000);
    }
    if (p == 1) *out = p;
}

static void latency_by_sm(char *device) {
    i64 *cycles = cycles_buffer(), low, high;
    u64 start = make_ring(device, 1, 128, false);
    chase_each_sm<<<sm_count, 1>>>(start, cycles, (u64 *)device + 64);
    cycles_range(cycles, sm_count, &low, &high);
    report("l2/latency_nearest", (double)low, "cycles", "one line, least over SMs");
    report("l2/latency_farthest", (double)high, "cycles", "one line, greatest over SMs");
}

// DRAM: each step a fresh line, far apart.
static void latency_dram(char *device) {
    i64 *cycles = cycles_buffer();
    size_t bytes = 1ull << 30;
    static const size_t strides[] = {4096, 65536, 1 << 20};
    char text[128];
    for (size_t stride : strides) {
        u64 start = make_ring(device, bytes / stride, stride, true);
        CHECK(cudaMemset(device + (2ull << 30), 0, 512 << 20));  // pushes the ring out of the L2
        int steps = bytes / stride > 2048 ? 2048 : (int)(bytes / stride);
        chase<CG><<<1, 1>>>(start, 0, steps, cycles, (u64 *)(cycles + 1000));
        snprintf(text, sizeof text, "chase/dram/stride_%zu", stride);
        report(text, (double)cycles_read(cycles, 0) / steps, "cycles", "1 GiB ring, cold");
    }
}

// --- shared memory ------------------------------------------------------------------------------------------------
__global__ void shared_latency(i64 *cycles, int stride_words, unsigned *out) {
    __shared__ unsigned words[32 * 32];
    for (int i = threadIdx.x; i < 1024; i += 32) words[i] = (unsigned)__cvta_generic_to_shared(&words[i]);
    __syncthreads();
    unsigned p = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x * stride_words % 1024]);
    i64 begin = now();
    for (int i = 0; i < 256; i++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
    i64 end = now();
    out[threadIdx.x] = p;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// Conflict degree = stride for powers of two. Throughput: several warps, independent loads.
__global__ void shared_throughput(i64 *cycles, int stride_words, unsigned *out) {
    __shared__ unsigned words[32 * 32];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 1;
    __syncthreads();
    unsigned p = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x % 32 * stride_words % 1024]), sum = 0, v[8];
    i64 begin = now();
    for (int i = 0; i < 64; i++) {
#pragma unroll
        for (int k = 0; k < 8; k++) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(p) : "memory");
#pragma unroll
        for (int k = 0; k < 8; k++) sum += v[k];
    }
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

template <int BYTES, bool STORE> __global__ void shared_wide(i64 *cycles, unsigned *out) {
    __shared__ uint4 words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = make_uint4(1, 2, 3, 4);
    __syncthreads();
    unsigned p = (unsigned)__cvta_generic_to_shared(words) + threadIdx.x % 512 * BYTES, a = 1, b = 1, c = 1, d = 1, sum = 0;
    i64 begin = now();
    for (int i = 0; i < 256; i++) {
        if (STORE && BYTES == 4) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(p), "r"(a) : "memory");
        if (STORE && BYTES == 8) asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%2};" ::"r"(p), "r"(a), "r"(b) : "memory");
        if (STORE && BYTES == 16) asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(p), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
        if (!STORE && BYTES == 4) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(p) : "memory");
        if (!STORE && BYTES == 8) asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(p) : "memory");
        if (!STORE && BYTES == 16) asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p) : "memory");
    }
    sum += a + b + c + d;
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// op 0: all lanes one word, 1: each its own bank, 2: one word per pair of lanes; with a returned value.
__global__ void shared_atomic(i64 *cycles, int kind, unsigned *out) {
    __shared__ unsigned words[64];
    if (threadIdx.x < 64) words[threadIdx.x] = 0;
    __syncthreads();
    unsigned *p = &words[kind == 0 ? 0 : kind == 1 ? threadIdx.x % 32 : threadIdx.x % 32 / 2], v = 0;
    i64 begin = now();
    for (int i = 0; i < 128; i++) v += atomicAdd(p, v + 1);
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = v;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

static void shared_memory(unsigned *out) {
    i64 *cycles = cycles_buffer();
    char text[128];
    for (int stride = 1; stride <= 32; stride *= 2) {
        shared_latency<<<1, 32>>>(cycles, stride, out);
        snprintf(text, sizeof text, "shared/latency/%d_way", stride);
        report(text, (double)cycles_read(cycles, 0) / 256, "cycles", "dependent ld.shared.u32");
        shared_throughput<<<1, 512>>>(cycles, stride, out);
        snprintf(text, sizeof text, "shared/throughput/%d_way", stride);
        report(text, (double)cycles_read(cycles, 0) / (16 * 512), "cycles/warp load", "16 warps, 8 independent loads");
    }
    shared_latency<<<1, 32>>>(cycles, 0, out);
    report("shared/latency/broadcast", (double)cycles_read(cycles, 0) / 256, "cycles", "all lanes one word");
#define WIDE(bytes, store, what)                                                                     \
    shared_wide<bytes, store><<<1, 1024>>>(cycles, out);                                             \
    report("shared/" what, 256.0 * 1024 * bytes / (double)cycles_read(cycles, 0), "bytes/cycle/SM", "32 warps");
    WIDE(4, false, "load_32") WIDE(8, false, "load_64") WIDE(16, false, "load_128")
    WIDE(4, true, "store_32") WIDE(8, true, "store_64") WIDE(16, true, "store_128")
    for (int kind = 0; kind < 3; kind++)
        for (int warps = 1; warps <= 32; warps *= 8) {
            shared_atomic<<<1, warps * 32>>>(cycles, kind, out);
            snprintf(text, sizeof text, "shared/atomic_add/%s/%d_warps", kind == 0 ? "one_word" : kind == 1 ? "own_word" : "word_per_pair", warps);
            report(text, (double)cycles_read(cycles, 0) / 128, "cycles/round", "each warp one atomicAdd with result per round");
        }
}

// --- bandwidth -------------------------------------------------------------------------------------------------------
// Every warp reads its own run of lines again and again; `bytes` is the footprint of a block (or of the grid).
template <int KIND> __global__ void read_lines(const uint4 *data, size_t elements, int rounds, bool shared_footprint, i64 *cycles, unsigned *out) {
    size_t first = shared_footprint ? 0 : blockIdx.x * elements;
    uint4 sum = make_uint4(0, 0, 0, 0);
    __syncthreads();
    i64 begin = now();
    for (int round = 0; round < rounds; round++)
        for (size_t i = threadIdx.x + (shared_footprint ? blockIdx.x * blockDim.x : 0); i < elements; i += blockDim.x * (shared_footprint ? gridDim.x : 1)) {
            uint4 v;
            const uint4 *p = data + first + i;
            if (KIND == CA) asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
            if (KIND == CG) asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    __syncthreads();
    i64 end = now();
    if (sum.x + sum.y + sum.z + sum.w == 12345) *out = 1;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

__global__ void write_lines(uint4 *data, size_t elements, i64 *cycles) {
    i64 begin = now();
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < elements; i += (size_t)blockDim.x * gridDim.x) data[i] = make_uint4(1, 2, 3, 4);
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = now() - begin;
}

__global__ void copy_lines(uint4 *to, const uint4 *from, size_t elements) {
    for (size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x; i < elements; i += (size_t)blockDim.x * gridDim.x) to[i] = from[i];
}

template <typename F> static double seconds(F launch) {
    cudaEvent_t a, b;
    float ms;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    launch();
    CHECK(cudaEventRecord(a));
    launch();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventElapsedTime(&ms, a, b));
    return ms * 1e-3;
}

static void bandwidths(char *device, unsigned *out) {
    i64 *cycles = cycles_buffer(), low, high;
    const uint4 *data = (const uint4 *)device;
    char text[128];
    for (int warps = 1; warps <= 32; warps *= 2) {
        size_t bytes = 32 << 10;
        read_lines<CA><<<1, warps * 32>>>(data, bytes / 16, 64, false, cycles, out);
        snprintf(text, sizeof text, "l1/read/%d_warps", warps);
        report(text, 64.0 * bytes / (double)cycles_read(cycles, 0), "bytes/cycle/SM", "32 KiB of one SM, 16 bytes a thread");
        bytes = 1 << 20;
        read_lines<CG><<<1, warps * 32>>>(data, bytes / 16, 8, false, cycles, out);
        snprintf(text, sizeof text, "l2/read_one_sm/%d_warps", warps);
        report(text, 8.0 * bytes / (double)cycles_read(cycles, 0), "bytes/cycle/SM", "1 MiB, one SM");
    }
    for (int blocks = 1; blocks <= sm_count * 2; blocks *= 2) {
        size_t bytes = 16 << 20;
        read_lines<CG><<<blocks, 1024>>>(data, bytes / 16, 8, true, cycles, out);
        cycles_range(cycles, blocks, &low, &high);
        snprintf(text, sizeof text, "l2/read/%d_blocks", blocks);
        report(text, 8.0 * bytes / (double)high, "bytes/cycle", "16 MiB shared by all, blocks of 1024");
    }
    for (int per = 1; per <= 2; per++) {
        size_t bytes = 16 << 20;
        read_lines<CG><<<sm_count * per, 1024>>>(data, bytes / 16, 8, true, cycles, out);
        cycles_range(cycles, sm_count * per, &low, &high);
        snprintf(text, sizeof text, "l2/read/all_sms_x%d", per);
        report(text, 8.0 * bytes / (double)high, "bytes/cycle", "16 MiB shared by all, blocks of 1024");
    }
    size_t big = 4ull << 30;
    for (int blocks = 1; blocks <= sm_count * 2; blocks *= 2) {
        size_t part = blocks < 16 ? big / 16 : big;
        double s = seconds([&] { read_lines<CG><<<blocks, 1024>>>(data, part / 16, 1, true, cycles, out); });
        snprintf(text, sizeof text, "dram/read/%d_blocks", blocks);
        report(text, (double)part / s * 1e-9, "GB/s", "blocks of 1024, 16 bytes a thread");
    }
    double s = seconds([&] { read_lines<CG><<<sm_count * 2, 1024>>>(data, big / 16, 1, true, cycles, out); });
    report("dram/read/all", (double)big / s * 1e-9, "GB/s", "4 GiB");
    s = seconds([&] { write_lines<<<sm_count * 2, 1024>>>((uint4 *)device, big / 16, cycles); });
    report("dram/write/all", (double)big / s * 1e-9, "GB/s", "4 GiB");
    s = seconds([&] { copy_lines<<<sm_count * 2, 1024>>>((uint4 *)device, (const uint4 *)(device + (4ull << 30)), big / 32); });
    report("dram/copy/all", (double)big / s * 1e-9, "GB/s", "2 GiB read and 2 GiB written");
}

// --- what an access costs that touches many sectors or lines ----------------------------------------------------------
// `zero` is 0, which the compiler does not know, so that no access can be left out.
template <bool STORE> __global__ void strided(char *data, int stride, int zero, int rounds, i64 *cycles, unsigned *out) {
    char *p = data + (size_t)(threadIdx.x % 32) * stride;
    unsigned sum = 0;
    __syncthreads();
    i64 begin = now();
#pragma unroll 8
    for (int i = 0; i < rounds; i++, p += zero) {
        unsigned v = 1;
        if (STORE)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(i) : "memory");
        else
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        sum += v;
    }
    __syncthreads();
    i64 end = now();
    if (sum == 12345) *out = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

// Latency of one load with this stride, in the L1: each lane follows a pointer to itself.
__global__ void strided_latency(char *data, int stride, i64 *cycles, u64 *out) {
    u64 p = (u64)(data + (size_t)(threadIdx.x % 32) * stride);
    *(u64 *)p = p;
    __syncwarp();
    for (int i = 0; i < 4; i++) p = follow<CA>(p);
    i64 begin = now();
    for (int i = 0; i < 256; i++) p = follow<CA>(p);
    i64 end = now();
    if (p == 1) *out = p;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

static void strides(char *device, unsigned *out) {
    static const int steps[] = {0, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    i64 *cycles = cycles_buffer();
    char text[128];
    for (int stride : steps) {
        strided<false><<<1, 512>>>(device, stride, 0, 256, cycles, out);
        snprintf(text, sizeof text, "stride/load_l1/%d", stride);
        report(text, (double)cycles_read(cycles, 0) / (16 * 256), "cycles/warp load", "32-bit, L1 hits, 16 warps");
        strided<true><<<1, 512>>>(device, stride, 0, 256, cycles, out);
        snprintf(text, sizeof text, "stride/store/%d", stride);
        report(text, (double)cycles_read(cycles, 0) / (16 * 256), "cycles/warp store", "32-bit, 16 warps, same lines again");
        if (stride < 8) continue;
        strided_latency<<<1, 32>>>(device, stride, cycles, (u64 *)out);
        snprintf(text, sizeof text, "stride/latency_l1/%d", stride);
        report(text, (double)cycles_read(cycles, 0) / 256, "cycles", "64-bit, L1 hits, one warp");
    }
}

// --- atomics -----------------------------------------------------------------------------------------------------------
// spread: words between lanes' addresses; 0 = all one word. blocks_apart: words between blocks' addresses.
template <bool RESULT> __global__ void global_atomic(unsigned *data, int spread, int blocks_apart, int rounds, i64 *cycles, unsigned *out) {
    unsigned *p = data + (size_t)blockIdx.x * blocks_apart + threadIdx.x * spread, v = 0;
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < rounds; i++) {
        if (RESULT)
            v = atomicAdd(p, v | 1);
        else
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
    }
    __syncthreads();
    i64 end = now();
    if (v == 12345) *out = v;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

static void atomics(char *device, unsigned *out) {
    i64 *cycles = cycles_buffer(), low, high;
    unsigned *data = (unsigned *)device;
    CHECK(cudaMemset(device, 0, 64 << 20));
    global_atomic<true><<<1, 1>>>(data, 0, 0, 256, cycles, out);
    report("atomic/latency/one_thread", (double)cycles_read(cycles, 0) / 256, "cycles", "atomicAdd with result");
    global_atomic<true><<<1, 32>>>(data, 0, 0, 256, cycles, out);
    report("atomic/latency/warp_one_word", (double)cycles_read(cycles, 0) / 256, "cycles", "atomicAdd with result, 32 lanes one word");
    global_atomic<true><<<1, 32>>>(data, 1, 0, 256, cycles, out);
    report("atomic/latency/warp_own_words", (double)cycles_read(cycles, 0) / 256, "cycles", "32 neighbouring words");
    global_atomic<true><<<1, 32>>>(data, 32, 0, 256, cycles, out);
    report("atomic/latency/warp_own_lines", (double)cycles_read(cycles, 0) / 256, "cycles", "32 lines");
    static const struct { int spread, apart; const char *name; } shapes[] = {{0, 0, "one_word"}, {0, 32, "word_per_block"}, {1, 0, "same_words"}, {1, 1024, "own_words"}};
    char text[128];
    for (auto &shape : shapes) {
        global_atomic<false><<<sm_count, 256>>>(data, shape.spread, shape.apart, 256, cycles, out);
        cycles_range(cycles, sm_count, &low, &high);
        snprintf(text, sizeof text, "atomic/red_throughput/%s", shape.name);
        report(text, (double)sm_count * 8 * 256 / (double)high, "warp red/cycle", "red.add.u32, all SMs, 8 warps each");
        global_atomic<true><<<sm_count, 256>>>(data, shape.spread, shape.apart, 64, cycles, out);
        cycles_range(cycles, sm_count, &low, &high);
        snprintf(text, sizeof text, "atomic/atom_throughput/%s", shape.name);
        report(text, (double)sm_count * 8 * 64 / (double)high, "warp atom/cycle", "atom.add.u32 with result");
    }
}

// --- constant memory, texture, local ------------------------------------------------------------------------------------
__constant__ unsigned constants[16384];

__global__ void constant_latency(int count, int stride_words, i64 *cycles, unsigned *out) {
    unsigned at = 0;
    for (int i = 0; i < count; i++) at = constants[at];
    i64 begin = now();
    for (int i = 0; i < 1024; i++) asm volatile("{.reg .u64 a, b; mul.wide.u32 a, %0, 4; mov.u64 b, constants; add.u64 a, a, b; ld.const.u32 %0, [a];}" : "+r"(at)::"memory");
    i64 end = now();
    *out = at;
    cycles[0] = end - begin;
}

static void constant_memory(unsigned *out) {
    static const int sizes[] = {1024, 1536, 2048, 3072, 4096, 8192, 16384, 24576, 32768, 49152, 65536};
    i64 *cycles = cycles_buffer();
    char text[128];
    unsigned *host = (unsigned *)calloc(16384, 4);
    for (int bytes : sizes) {
        int words = bytes / 4, stride = 16;
        for (int i = 0; i < words; i++) host[i] = (unsigned)((i + stride) % words);
        CHECK(cudaMemcpyToSymbol(constants, host, 65536));
        constant_latency<<<1, 1>>>(2 * words / stride, stride, cycles, out);
        snprintf(text, sizeof text, "constant/latency/%d_bytes", bytes);
        report(text, (double)cycles_read(cycles, 0) / 1024, "cycles", "ld.const chain with address arithmetic, 64-byte stride");
    }
    free(host);
}

__global__ void texture_latency(cudaTextureObject_t t, i64 *cycles, int *out) {
    int at = 0;
    for (int i = 0; i < 64; i++) at = tex1Dfetch<int>(t, at);
    i64 begin = now();
    for (int i = 0; i < 256; i++) at = tex1Dfetch<int>(t, at);
    i64 end = now();
    *out = at;
    cycles[0] = end - begin;
}

__global__ void texture_throughput(cudaTextureObject_t t, i64 *cycles, int *out) {
    int sum = 0;
    __syncthreads();
    i64 begin = now();
#pragma unroll 8
    for (int i = 0; i < 256; i++) sum += tex1Dfetch<int>(t, (int)threadIdx.x + i * 8);
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

static void textures(char *device, unsigned *out) {
    i64 *cycles = cycles_buffer();
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.sizeInBytes = 65536;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    CHECK(cudaMemset(device, 0, 65536));
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    texture_latency<<<1, 1>>>(texture, cycles, (int *)out);
    report("texture/latency", (double)cycles_read(cycles, 0) / 256, "cycles", "tex1Dfetch chain, hits");
    texture_throughput<<<1, 1024>>>(texture, cycles, (int *)out);
    report("texture/throughput", 256.0 * 32 / (double)cycles_read(cycles, 0), "warp fetches/cycle/SM", "32 warps, hits");
}

int main() {
    cudaDeviceProp properties;
    char *device;
    unsigned *out;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sm_count = properties.multiProcessorCount;
    CHECK(cudaMalloc(&device, 8ull << 30));
    CHECK(cudaMalloc(&out, 1 << 16));
    CHECK(cudaMemset(device, 0, 8ull << 30));
    report("device/sms", sm_count, "count", properties.name);
    shared_memory(out);
    strides(device, out);
    atomics(device, out);
    constant_memory(out);
    textures(device, out);
    latencies(device);
    latency_by_sm(device);
    latency_dram(device);
    bandwidths(device, out);
    return 0;
}
