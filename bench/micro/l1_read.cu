// SPDX-License-Identifier: Apache-2.0
// Loads that hit the L1, `COUNT` independent ones of a warp in a turn, whose results are used before the next turn.
// `l1_read/PATTERN/BYTES/COUNT/WARPS`: cycles of the SM for a load of a warp.
// PATTERN: lanes - neighbouring words of neighbouring lanes; one - all lanes the same word; far - each lane its own
// sector, 32 bytes apart. BYTES: of a lane. All warps read the same 16 KiB, in each turn from
// 512 bytes further on, so that no load can be taken out of the loop.
#include "micro.h"

constexpr int TURNS = 128, FOOTPRINT = 16 << 10;

template <int BYTES> __device__ static inline unsigned load(const char *at) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (BYTES == 4) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(at) : "memory");
    if (BYTES == 8) asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory");
    if (BYTES == 16)
        asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at) : "memory");
    return a + b + c + d;
}

template <int BYTES, int COUNT> __global__ void reads(const char *data, int lane_bytes, i64 *cycles, unsigned *out) {
    unsigned sum = 0;
    for (int i = threadIdx.x * 4; i < FOOTPRINT; i += blockDim.x * 4) sum += load<4>(data + i);
    const char *p = data + threadIdx.x % 32 * lane_bytes;
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned v[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = load<BYTES>(p + (turn % 16 + k) * 512);
#pragma unroll
        for (int k = 0; k < COUNT; k++) sum += v[k];
    }
    __syncthreads();
    i64 end = now();
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

template <int BYTES, int COUNT> static void pattern(const char *name, int lane_bytes, const char *data, unsigned *out) {
    char text[128];
    for (int warps = 1; warps <= 32; warps *= 2) {
        i64 *cycles = cycles_buffer();
        reads<BYTES, COUNT><<<1, warps * 32>>>(data, lane_bytes, cycles, out);
        snprintf(text, sizeof text, "l1_read/%s/%d/%d/%d", name, BYTES, COUNT, warps);
        report(text, (double)cycles_read(cycles, 0) / (TURNS * COUNT * warps), "cycles/warp load", "");
    }
}

template <int BYTES, int COUNT> static void patterns(const char *data, unsigned *out) {
    pattern<BYTES, COUNT>("lanes", BYTES, data, out);
    pattern<BYTES, COUNT>("one", 0, data, out);
    if (BYTES <= 8) pattern<BYTES, COUNT>("far", 32, data, out);
}

int main() {
    char *data;
    unsigned *out;
    CHECK(cudaMalloc(&data, 64 << 10));
    CHECK(cudaMemset(data, 0, 64 << 10));
    CHECK(cudaMalloc(&out, 4096));
    patterns<4, 1>(data, out);
    patterns<4, 4>(data, out);
    patterns<4, 8>(data, out);
    patterns<8, 4>(data, out);
    patterns<16, 1>(data, out);
    patterns<16, 4>(data, out);
    return 0;
}
