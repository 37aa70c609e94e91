// SPDX-License-Identifier: Apache-2.0
// The L2 under all SMs: read and write bandwidth over growing footprints, read or written before. `l2 counted` only makes
// the launches that counters.sh measures from outside.
#include <cstring>

#include "micro.h"

static int sm_count;

__global__ void read_all(const uint4 *data, size_t count, unsigned *out) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) {
        uint4 v;
        asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(data + i));
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 12345) *out = sum;
}

__global__ void write_all(uint4 *data, size_t count) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) data[i] = make_uint4(1, 2, 3, 4);
}

// Each line read by one warp of one block only; `blocks` of them, so that the number of SMs is known.
__global__ void reduce_all(unsigned *data, size_t count) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(data + i) : "memory");
}

template <typename F> static double gb_per_s(size_t bytes, F launch) {
    cudaEvent_t a, b;
    float ms;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    launch();
    launch();
    CHECK(cudaEventRecord(a));
    for (int i = 0; i < 20; i++) launch();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventElapsedTime(&ms, a, b));
    return (double)bytes * 20 / ms * 1e-6;
}

int main(int argc, char **argv) {
    static const int sizes[] = {1, 4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 256};
    bool counted = argc > 1 && !strcmp(argv[1], "counted");
    cudaDeviceProp properties;
    char *data, text[64];
    unsigned *out;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sm_count = properties.multiProcessorCount;
    CHECK(cudaMalloc(&data, 1ull << 30));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(data, 0, 1ull << 30));
    for (int mb : sizes) {
        size_t bytes = (size_t)mb << 20;
        auto read = [&] { read_all<<<sm_count * 2, 1024>>>((const uint4 *)data, bytes / 16, out); };
        auto write = [&] { write_all<<<sm_count * 2, 1024>>>((uint4 *)data, bytes / 16); };
        auto reduce = [&] { reduce_all<<<sm_count * 2, 1024>>>((unsigned *)data, bytes / 4); };
        if (counted) {  // each after a pass of itself
            read(), read(), write(), write(), reduce(), reduce();
            continue;
        }
        snprintf(text, sizeof text, "l2/footprint_read/%d_MiB", mb);
        report(text, gb_per_s(bytes, read), "GB/s", "again and again, launches included");
        snprintf(text, sizeof text, "l2/footprint_write/%d_MiB", mb);
        report(text, gb_per_s(bytes, write), "GB/s", "again and again, launches included");
        snprintf(text, sizeof text, "l2/footprint_reduce/%d_MiB", mb);
        report(text, gb_per_s(bytes, reduce), "GB/s", "red.add.u32 of every word, launches included");
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
