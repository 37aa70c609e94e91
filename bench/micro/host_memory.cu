// SPDX-License-Identifier: Apache-2.0
// Memory of the host that kernels reach over the bus: latency, bandwidth, atomics; pinned, and managed where the host's
// processor has touched it last. And the heap of the device: malloc and free in kernels.
#include "micro.h"

__global__ void chase(const u64 *at, int steps, i64 *cycles, u64 *sink) {
    u64 next = (u64)at;
    i64 begin = now();
    for (int i = 0; i < steps; i++) asm volatile("ld.global.cv.u64 %0, [%0];" : "+l"(next)::"memory");
    cycles[0] = now() - begin;
    *sink = next;
}

template <int BYTES>
struct Word;
template <>
struct Word<4> {
    typedef unsigned type;
};
template <>
struct Word<16> {
    typedef uint4 type;
};

static __device__ void keep(unsigned v, unsigned *sink) {
    if (v == 0x12345678) *sink = v;
}
static __device__ void keep(uint4 v, unsigned *sink) {
    if (v.x == 0x12345678) *sink = v.y;
}

template <typename T>
__global__ void read_all(const T *from, size_t count, unsigned *sink) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) keep(from[i], sink);
}
template <typename T>
__global__ void write_all(T *to, size_t count) {
    T v = {};
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) to[i] = v;
}
__global__ void copy_all(const float *a, const float *b, float *c) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
__global__ void atomics(unsigned *word, int apart, int rounds, i64 *cycles) {
    unsigned *mine = word + threadIdx.x * apart, v = 0;
    i64 begin = now();
    for (int i = 0; i < rounds; i++) v = atomicAdd_system(mine, v | 1);
    if (threadIdx.x == 0) cycles[0] = now() - begin;
    if (v == 0x12345678) cycles[1] = v;
}
__global__ void take_and_give(int bytes, i64 *cycles) {
    i64 begin = now();
    char *p = (char *)malloc(bytes);
    i64 between = now();
    if (p) p[0] = 1;
    i64 after = now();
    free(p);
    i64 end = now();
    if (threadIdx.x == 0) {
        cycles[2 * blockIdx.x] = between - begin;
        cycles[2 * blockIdx.x + 1] = end - after;
    }
}

static void bandwidth(const char *kind, char *memory, size_t bytes, int sms, unsigned *sink) {
    char text[128];
    for (int blocks : {1, 8, sms, sms * 8})
        for (int wide = 0; wide < 2; wide++) {
            double read = ns_of([&] {
                if (wide)
                    read_all<<<blocks, 256>>>((const uint4 *)memory, bytes / 16, sink);
                else
                    read_all<<<blocks, 256>>>((const unsigned *)memory, bytes / 4, sink);
            });
            snprintf(text, sizeof text, "host/%s/read_%d/%d_blocks", kind, wide ? 16 : 4, blocks);
            report(text, bytes / read, "GB/s", "256 threads a block");
            double write = ns_of([&] {
                if (wide)
                    write_all<<<blocks, 256>>>((uint4 *)memory, bytes / 16);
                else
                    write_all<<<blocks, 256>>>((unsigned *)memory, bytes / 4);
            });
            snprintf(text, sizeof text, "host/%s/write_%d/%d_blocks", kind, wide ? 16 : 4, blocks);
            report(text, bytes / write, "GB/s", "256 threads a block");
        }
    double both = ns_of([&] {
        copy_all<<<4096, 256>>>((const float *)memory, (const float *)(memory + (4 << 20)), (float *)(memory + (8 << 20)));
    });
    snprintf(text, sizeof text, "host/%s/add_vectors", kind);
    report(text, both, "ns", "two of 4 MiB read, one written");
}

static void latency(const char *kind, char *memory, i64 *cycles, u64 *sink) {
    char text[128];
    enum { STEPS = 64, APART = 4096 / 8 };
    u64 *chain = (u64 *)memory;
    for (int i = 0; i < STEPS; i++) chain[i * APART] = (u64)(chain + (i + 1) % STEPS * APART);
    for (int warm = 0; warm < 2; warm++) chase<<<1, 1>>>(chain, STEPS, cycles, sink);
    snprintf(text, sizeof text, "host/%s/latency", kind);
    report(text, cycles_read(cycles, 0) / (double)STEPS, "cycles", "ld.cv, a page each");
    for (int threads : {1, 32})
        for (int apart : {0, 1, 32}) {
            for (int warm = 0; warm < 2; warm++) atomics<<<1, threads>>>((unsigned *)memory, apart, 32, cycles);
            snprintf(text, sizeof text, "host/%s/atomic/%d_lanes/%d_words_apart", kind, threads, apart);
            report(text, cycles_read(cycles, 0) / 32.0, "cycles", "atomicAdd_system with result");
        }
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    size_t bytes = 64 << 20;
    char *pinned, *managed;
    u64 *sink;
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    CHECK(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped));
    CHECK(cudaMalloc(&sink, 64));
    latency("pinned", pinned, cycles, sink);
    bandwidth("pinned", pinned, bytes, properties.multiProcessorCount, (unsigned *)sink);
    CHECK(cudaMallocManaged(&managed, bytes));
    for (size_t i = 0; i < bytes; i += 4096) managed[i] = 1;
    float ms;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int pass = 0; pass < 2; pass++) {
        CHECK(cudaEventRecord(begin));
        read_all<<<properties.multiProcessorCount * 8, 256>>>((const unsigned *)managed, bytes / 4, (unsigned *)sink);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        snprintf(text, sizeof text, "host/managed/read/%s", pass ? "again" : "first");
        report(text, bytes / (ms * 1e6), "GB/s", "pages that the host's processor wrote last");
    }
    for (int threads : {1, 32, 256})
        for (int blocks : {1, 128})
            for (int size : {16, 256, 4096}) {
                for (int warm = 0; warm < 2; warm++) take_and_give<<<blocks, threads>>>(size, cycles);
                i64 copy[256];
                CHECK(cudaDeviceSynchronize());
                CHECK(cudaMemcpy(copy, cycles, sizeof copy, cudaMemcpyDeviceToHost));
                low = high = 0;
                for (int b = 0; b < blocks; b++) low += copy[2 * b], high += copy[2 * b + 1];
                snprintf(text, sizeof text, "heap/malloc/%d_bytes/%d_blocks/%d_threads", size, blocks, threads);
                report(text, (double)low / blocks, "cycles", "mean of the first warps");
                snprintf(text, sizeof text, "heap/free/%d_bytes/%d_blocks/%d_threads", size, blocks, threads);
                report(text, (double)high / blocks, "cycles", "mean of the first warps");
            }
    return 0;
}
