// SPDX-License-Identifier: Apache-2.0
// Many accesses under way: what one SM can have open, read and write; sectors that DRAM and L2 bring along; copies over the
// bus. `streams counted` only makes the launches that counters.sh measures from outside.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "micro.h"

// Every thread has UNROLL loads of 16 bytes under way.
template <int UNROLL> __global__ void read_many(const uint4 *data, size_t count, i64 *cycles, unsigned *out) {
    unsigned sum = 0;
    __syncthreads();
    i64 begin = now();
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x * UNROLL; i + (UNROLL - 1) * blockDim.x < count; i += (size_t)blockDim.x * gridDim.x * UNROLL) {
        uint4 v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w) : "l"(data + i + k * blockDim.x));
#pragma unroll
        for (int k = 0; k < UNROLL; k++) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    __syncthreads();
    i64 end = now();
    if (sum == 12345) *out = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

// Hits of the L1, several under way.
__global__ void read_l1(const uint4 *data, int rounds, i64 *cycles, unsigned *out) {
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) sum += data[threadIdx.x + i * blockDim.x].x;
    __syncthreads();
    i64 begin = now();
    for (int r = 0; r < rounds; r++) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w) : "l"(data + threadIdx.x + k * blockDim.x) : "memory");
#pragma unroll
        for (int k = 0; k < 8; k++) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    __syncthreads();
    i64 end = now();
    if (sum == 12345) *out = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

__global__ void write_many(uint4 *data, size_t count, i64 *cycles) {
    __syncthreads();
    i64 begin = now();
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) data[i] = make_uint4(1, 2, 3, 4);
    __threadfence();
    __syncthreads();
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

// A word in each `stride` bytes: which sectors come along?
__global__ void read_sparse(const char *data, size_t stride, size_t count, unsigned *out) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) sum += *(const unsigned *)(data + i * stride);
    if (sum == 12345) *out = sum;
}
__global__ void write_sparse(char *data, size_t stride, size_t count) {
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) *(unsigned *)(data + i * stride) = 1;
}

static const int strides[] = {32, 64, 128, 256, 512, 1024, 4096};

static void sparse(char *data, unsigned *out) {
    for (int stride : strides) read_sparse<<<264, 1024>>>(data, stride, (128 << 20) / stride, out);
    for (int stride : strides) write_sparse<<<264, 1024>>>(data, stride, (128 << 20) / stride);
    CHECK(cudaDeviceSynchronize());
}

template <int UNROLL> static void one_sm(char *data, unsigned *out) {
    i64 *cycles = cycles_buffer();
    char text[128];
    for (int threads = 256; threads <= 1024; threads *= 2)
        for (int big = 0; big < 2; big++) {
            size_t bytes = big ? 64 << 20 : 1 << 20;
            if (big) CHECK(cudaMemset(data + (2ull << 30), 0, 512 << 20));
            else read_many<UNROLL><<<1, threads>>>((const uint4 *)data, bytes / 16, cycles, out);
            read_many<UNROLL><<<1, threads>>>((const uint4 *)data, bytes / 16, cycles, out);
            snprintf(text, sizeof text, "streams/one_sm/%s/%d_threads_of_%d_bytes", big ? "dram" : "l2", threads, UNROLL * 16);
            report(text, (double)bytes / (double)cycles_read(cycles, 0), "bytes/cycle", "one block");
        }
}

static void copies() {
    static const size_t sizes[] = {1, 4096, 65536, 1 << 20, 16 << 20, 256 << 20};
    char *pinned, *pageable = (char *)malloc(256 << 20), *device, *other, text[128];
    CHECK(cudaMallocHost(&pinned, 256 << 20));
    CHECK(cudaMalloc(&device, 256 << 20));
    CHECK(cudaMalloc(&other, 256 << 20));
    memset(pageable, 1, 256 << 20);
    memset(pinned, 1, 256 << 20);
    struct { const char *name; void *to; const void *from; } kinds[] = {{"pinned_to_device", device, pinned}, {"device_to_pinned", pinned, device}, {"pageable_to_device", device, pageable}, {"device_to_pageable", pageable, device}, {"device_to_device", other, device}};
    for (auto &kind : kinds)
        for (size_t size : sizes) {
            std::vector<double> us;
            for (int i = 0; i < 12; i++) {
                cudaEvent_t a, b;
                float ms;
                CHECK(cudaEventCreate(&a));
                CHECK(cudaEventCreate(&b));
                CHECK(cudaEventRecord(a));
                CHECK(cudaMemcpyAsync(kind.to, kind.from, size, cudaMemcpyDefault));
                CHECK(cudaEventRecord(b));
                CHECK(cudaEventSynchronize(b));
                CHECK(cudaEventElapsedTime(&ms, a, b));
                us.push_back(ms * 1e3);
            }
            std::sort(us.begin(), us.end());
            snprintf(text, sizeof text, "copy/%s/%zu", kind.name, size);
            report(text, us[us.size() / 2], "us", "between two events");
        }
}

int main(int argc, char **argv) {
    char *data;
    unsigned *out;
    CHECK(cudaMalloc(&data, 4ull << 30));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(data, 0, 4ull << 30));
    if (argc > 1 && !strcmp(argv[1], "counted")) return sparse(data, out), 0;
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    one_sm<1>(data, out), one_sm<4>(data, out), one_sm<8>(data, out);
    for (int threads = 256; threads <= 1024; threads *= 2) {
        read_l1<<<1, threads>>>((const uint4 *)data, 64, cycles, out);
        snprintf(text, sizeof text, "streams/l1/%d_threads_of_128_bytes", threads);
        report(text, 64.0 * 8 * 16 * threads / (double)cycles_read(cycles, 0), "bytes/cycle", "hits of the L1");
    }
    for (int blocks : {1, 16, 132, 264}) {
        size_t bytes = blocks == 1 ? 4 << 20 : 32 << 20;
        write_many<<<blocks, 1024>>>((uint4 *)data, bytes / 16, cycles);
        write_many<<<blocks, 1024>>>((uint4 *)data, bytes / 16, cycles);
        cycles_range(cycles, blocks, &low, &high);
        snprintf(text, sizeof text, "streams/write/%d_blocks", blocks);
        report(text, (double)bytes / (double)high, "bytes/cycle", "stays in the L2");
        read_many<8><<<blocks, 512>>>((uint4 *)data, bytes / 16, cycles, out);
        cycles_range(cycles, blocks, &low, &high);
        snprintf(text, sizeof text, "streams/read_l2/%d_blocks", blocks);
        report(text, (double)bytes / (double)high, "bytes/cycle", "512 threads of 128 bytes");
    }
    copies();
    return 0;
}
