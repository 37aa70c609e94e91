// SPDX-License-Identifier: Apache-2.0
// What an access of a warp costs the L1 by the lines and the banks that its lanes touch: lane l reads word `bank(l)` of
// line `l % lines`. With every lane at a bank of its own, what is left is the price of a line's tag.
#include "micro.h"

enum { ROUNDS = 64, FOLD = 40960 };  // rounds take turns on four copies, so that no load is one that was there before

// Loads that hit; `offsets` has a byte offset for each round and lane.
template <typename T>
__global__ void loads(const char *data, const int *offsets, int rounds, i64 *cycles, unsigned *sink) {
    __shared__ int mine[8 * 32];
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) mine[i] = offsets[i];
    __syncthreads();
    const char *at[8];
    for (int i = 0; i < 8; i++) at[i] = data + mine[i * 32 + threadIdx.x % 32];
    T sum = 0;
    for (int i = 0; i < 8; i++) sum += __ldca((const T *)at[i]);
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            T v;
            if (sizeof(T) == 4)
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(*(unsigned *)&v) : "l"(at[i] + r % 4 * FOLD) : "memory");
            else
                asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(*(u64 *)&v) : "l"(at[i] + r % 4 * FOLD) : "memory");
            sum += v;
        }
    if (sum == (T)0x1234567) *sink = 1;
    __syncthreads();
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

__global__ void stores(char *data, const int *offsets, int rounds, i64 *cycles) {
    char *at[8];
    for (int i = 0; i < 8; i++) at[i] = data + offsets[i * 32 + threadIdx.x % 32];
    __syncthreads();
    i64 begin = now();
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 8; i++) asm volatile("st.global.u32 [%0], %1;" ::"l"(at[i]), "r"(r) : "memory");
    __syncthreads();
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

static char *data;
static int *offsets;
static unsigned *sink;

static void measure(const char *name, int bytes, const int *table) {
    i64 *cycles = cycles_buffer();
    char text[128];
    CHECK(cudaMemcpy(offsets, table, 8 * 32 * sizeof(int), cudaMemcpyHostToDevice));
    for (int warps : {1, 4, 16}) {
        if (bytes == 4)
            loads<unsigned><<<1, warps * 32>>>(data, offsets, ROUNDS, cycles, sink);
        else
            loads<u64><<<1, warps * 32>>>(data, offsets, ROUNDS, cycles, sink);
        snprintf(text, sizeof text, "gather/load_%d/%s/%d_warps", bytes, name, warps);
        report(text, cycles_read(cycles, 0) / (8.0 * ROUNDS * warps), "cycles/warp load", "L1 hits");
    }
    if (bytes != 4) return;
    stores<<<1, 512>>>(data, offsets, ROUNDS, cycles);
    snprintf(text, sizeof text, "gather/store_4/%s/16_warps", name);
    report(text, cycles_read(cycles, 0) / (8.0 * ROUNDS * 16), "cycles/warp store", "");
}

int main() {
    CHECK(cudaMalloc(&data, 1 << 22));
    CHECK(cudaMemset(data, 0, 1 << 22));
    CHECK(cudaMalloc(&offsets, 4096));
    CHECK(cudaMalloc(&sink, 4));
    int table[8 * 32];
    char name[64];
    for (int bytes : {4, 8})
        for (int lines : {1, 2, 4, 8, 16, 32}) {
            int words = 128 / bytes;
            for (int kind = 0; kind < 2; kind++) {
                for (int i = 0; i < 8; i++)
                    for (int l = 0; l < 32; l++)
                        table[i * 32 + l] = (i * 32 + l % lines) * 128 + (kind ? l / lines : l) % words * bytes;
                snprintf(name, sizeof name, "%d_lines/%s", lines, kind ? "same_banks" : "own_banks");
                measure(name, bytes, table);
            }
        }
    unsigned seed = 1;
    for (int bytes : {4, 8})
        for (int lines : {8, 32, 128, 512}) {
            for (int i = 0; i < 8 * 32; i++) {
                seed = seed * 1664525u + 1013904223u;
                table[i] = (int)((seed >> 8) % (unsigned)(lines * 128 / bytes)) * bytes;
            }
            snprintf(name, sizeof name, "random_of_%d", lines);
            measure(name, bytes, table);
        }
    return 0;
}
