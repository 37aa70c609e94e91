// SPDX-License-Identifier: Apache-2.0
// Launches: how long an empty kernel is, how fast blocks are handed out, what a block's start and end cost, and how the
// instruction caches show in straight-line code.
#include "micro.h"

static int sm_count;

__device__ static u64 global_ns() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

__global__ void empty() {}

__global__ void stamps(i64 *cycles, u64 *ns, int *sm, int work) {
    if (threadIdx.x == 0) {
        int id;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        i64 begin = now();
        ns[blockIdx.x] = global_ns();
        while (now() - begin < work) {}
        cycles[2 * blockIdx.x] = begin;
        cycles[2 * blockIdx.x + 1] = now();
        sm[blockIdx.x] = id;
    }
}

template <typename F> static double microseconds(F launch, int count) {
    cudaEvent_t a, b;
    float ms;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    for (int i = 0; i < 20; i++) launch();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(a));
    for (int i = 0; i < count; i++) launch();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventElapsedTime(&ms, a, b));
    return ms * 1e3 / count;
}

static void empty_kernels() {
    static const int blocks[] = {1, 132, 1056, 4224, 16896, 67584, 270336};
    char text[128];
    for (int threads = 32; threads <= 1024; threads *= 4)
        for (int n : blocks) {
            snprintf(text, sizeof text, "launch/empty/%d_blocks_of_%d", n, threads);
            report(text, microseconds([&] { empty<<<n, threads>>>(); }, 200), "us", "back to back, one stream");
        }
    double one = microseconds([&] { empty<<<1, 32>>>(); CHECK(cudaDeviceSynchronize()); }, 200);
    report("launch/empty/synchronised", one, "us", "launch and cudaDeviceSynchronize");
}

// Order and pace in which blocks start on SMs.
static void block_starts() {
    i64 *cycles;
    u64 *ns, *host_ns;
    int *sm, *host_sm, blocks = sm_count * 64;
    i64 *host;
    CHECK(cudaMalloc(&cycles, blocks * 16));
    CHECK(cudaMalloc(&ns, blocks * 8));
    CHECK(cudaMalloc(&sm, blocks * 4));
    host = (i64 *)malloc(blocks * 16);
    host_ns = (u64 *)malloc(blocks * 8);
    host_sm = (int *)malloc(blocks * 4);
    for (int threads = 64; threads <= 1024; threads *= 4) {
        char text[128];
        for (int warm = 0; warm < 2; warm++) stamps<<<blocks, threads>>>(cycles, ns, sm, 2000);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(host, cycles, blocks * 16, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(host_ns, ns, blocks * 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(host_sm, sm, blocks * 4, cudaMemcpyDeviceToHost));
        // On SM of block 0: starts of its blocks, and the gap between one's end and the next's start in its place.
        int shown = 0;
        i64 first = host[0];
        for (int b = 0; b < blocks && shown < 40; b++) {
            if (host_sm[b] != host_sm[0]) continue;
            snprintf(text, sizeof text, "block/start/%d_threads/%d", threads, shown++);
            char note[64];
            snprintf(note, sizeof note, "block %d on one SM, ends %lld", b, host[2 * b + 1] - first);
            report(text, (double)(host[2 * b] - first), "cycles", note);
        }
        for (int b = 0; b < 24; b++) {
            snprintf(text, sizeof text, "block/place/%d_threads/%d", threads, b);
            report(text, host_sm[b], "SM", "");
        }
    }
}

// Straight-line code of N instructions in a loop: fetch cost per instruction when it exceeds a cache. The loop must stay
// one: unrolled, every round would be code that is seen for the first time.
#define F1 asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(a)); asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(b)); \
    asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(c)); asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(d));
#define F4 F1 F1 F1 F1
#define F16 F4 F4 F4 F4
#define F64 F16 F16 F16 F16
#define F256 F64 F64 F64 F64
#define CODE(name, body)                                                       \
    __global__ void code_##name(i64 *cycles, float *out) {                     \
        float a = 1, b = 2, c = 3, d = 4;                                      \
        i64 begin = 0, end = 0;                                                \
        _Pragma("unroll 1") for (int round = 0; round < 6; round++) {          \
            if (round == 2) begin = now();                                     \
            body                                                               \
        }                                                                      \
        end = now();                                                           \
        out[threadIdx.x] = a + b + c + d;                                      \
        if (threadIdx.x == blockDim.x - 1) cycles[0] = end - begin;            \
    }
CODE(64, F16)
CODE(128, F16 F16)
CODE(256, F64)
CODE(512, F64 F64)
CODE(1024, F256)
CODE(1536, F256 F64 F64)
CODE(2048, F256 F256)
CODE(3072, F256 F256 F256)
CODE(4096, F256 F256 F256 F256)
CODE(6144, F256 F256 F256 F256 F256 F256)
CODE(8192, F256 F256 F256 F256 F256 F256 F256 F256)
CODE(10240, F256 F256 F256 F256 F256 F256 F256 F256 F256 F256)
CODE(12288, F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256)
CODE(16384, F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256 F256)

static void instruction_cache() {
    i64 *cycles = cycles_buffer();
    float *out;
    CHECK(cudaMalloc(&out, 4096));
    char text[128];
#define MEASURE(n)                                                                                       \
    for (int warps = 1; warps <= 16; warps *= 4) {                                                       \
        code_##n<<<1, warps * 32>>>(cycles, out);                                                        \
        snprintf(text, sizeof text, "code/%d_KiB/%d_warps", n / 64, warps);                              \
        report(text, (double)cycles_read(cycles, 0) / (4.0 * n), "cycles/instruction", "independent fma, 16 bytes each, loop"); \
    }
    MEASURE(64) MEASURE(128) MEASURE(256) MEASURE(512) MEASURE(1024) MEASURE(1536) MEASURE(2048) MEASURE(3072) MEASURE(4096) MEASURE(6144) MEASURE(8192) MEASURE(10240) MEASURE(12288) MEASURE(16384)
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sm_count = properties.multiProcessorCount;
    empty_kernels();
    block_starts();
    instruction_cache();
    return 0;
}
