// SPDX-License-Identifier: Apache-2.0
// Which addresses share a slice of the L2, by what atomics without results of all SMs on so many lines cost: each warp adds
// to every word of a line, then of the next. `atomic_spread/LINESxSTRIDE`: cycles of the GPU for an atomic of a warp; one
// slice alone takes 4.7. `atomic_spread/word/...`: the first word of each line only, one lane. `shared/...`: atomics on
// shared memory of one CTA, by lanes on a word and warps, on words chosen at random among so many (histograms).
#include "micro.h"

enum { TURNS = 64, THREADS = 256 };

__global__ void lines(unsigned *data, int count, unsigned stride, bool word, i64 *begin, i64 *end) {
    unsigned warp = threadIdx.x / 32 + blockIdx.x * (THREADS / 32), lane = threadIdx.x % 32, at = warp % count;
    i64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    i64 due = (t / 8192 + 2) * 8192;
    while (t < due) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    __syncthreads();
    i64 first = now();
    for (int i = 0; i < TURNS; i++) {
        if (!word || !lane) atomicAdd((unsigned *)((char *)data + (size_t)at * stride) + (word ? 0 : lane), 1u);
        at = at + 1 == (unsigned)count ? 0 : at + 1;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x) return;
    begin[blockIdx.x] = 0;
    end[blockIdx.x] = now() - first;
}

__global__ void bins(const unsigned *which, int turns, i64 *cycles, unsigned *out) {
    extern __shared__ unsigned bin[];
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) bin[i] = 0;
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < turns; i += 4) {
        unsigned v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = which[(i + k) * blockDim.x + threadIdx.x];
#pragma unroll
        for (int k = 0; k < 4; k++) atomicAdd(bin + v[k], 1u);
    }
    __syncthreads();
    if (!threadIdx.x) cycles[0] = now() - begin;
    out[threadIdx.x] = bin[threadIdx.x];
}

int main() {
    cudaDeviceProp properties;
    unsigned *data, *which, *out, *host;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int sms = properties.multiProcessorCount;
    char text[96];
    CHECK(cudaMalloc(&data, 256 << 20));
    CHECK(cudaMemset(data, 0, 256 << 20));
    CHECK(cudaMalloc(&which, 1 << 20));
    CHECK(cudaMalloc(&out, 4096));
    for (int word = 0; word < 2; word++)
        for (unsigned stride : {128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u, 16384u, 65536u, 1048576u})
            for (int count : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256}) {
                if (word && count > 32) continue;
                if ((size_t)count * stride > 256u << 20) continue;
                i64 *cycles = cycles_buffer(), low, high;
                lines<<<sms, THREADS>>>(data, count, stride, word, cycles, cycles + 1024);
                lines<<<sms, THREADS>>>(data, count, stride, word, cycles, cycles + 1024);
                cycles_range(cycles + 1024, sms, &low, &high);
                snprintf(text, sizeof text, "atomic_spread/%s%dx%u", word ? "word/" : "", count, stride);
                report(text, (double)high / ((double)TURNS * sms * (THREADS / 32)), "cycles/warp", "");
            }
    host = (unsigned *)malloc(1 << 20);
    for (unsigned words : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 1024u, 4096u})
        for (int warps : {1, 2, 4, 8, 16, 32}) {
            unsigned seed = 1;
            for (int i = 0; i < 1 << 18; i++) host[i] = (seed = seed * 1664525u + 1013904223u) >> 8 & (words - 1);
            CHECK(cudaMemcpy(which, host, 1 << 20, cudaMemcpyHostToDevice));
            i64 *cycles = cycles_buffer();
            for (int round = 0; round < 2; round++) bins<<<1, warps * 32, 32768>>>(which, 64, cycles, out);
            snprintf(text, sizeof text, "shared/random_of_%u/%d_warps", words, warps);
            report(text, (double)cycles_read(cycles, 0) / (64.0 * warps), "cycles/warp", "loads included");
        }
    return 0;
}
