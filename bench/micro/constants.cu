// SPDX-License-Identifier: Apache-2.0
// Indexed constants of a warp at several addresses: a chain of loads whose lanes ask for `ways` different words, `stride`
// words apart, by one warp (latency) and by sixteen (what one access takes of the SM).
#include "micro.h"

__constant__ unsigned table[1024];  // zeros: each load's address depends on the one before

__global__ void chain(int ways, int stride, int rounds, i64 *cycles, unsigned *sink) {
    unsigned at = threadIdx.x % ways * stride;
    for (int i = 0; i < 8; i++) at += table[at];
    __syncthreads();
    i64 begin = now();
#pragma unroll 8
    for (int i = 0; i < rounds; i++) at += table[at];
    i64 end = now();
    if (at == 0xffffffff) *sink = at;
    if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = end - begin;
}

int main() {
    enum { ROUNDS = 256 };
    i64 *cycles = cycles_buffer(), low, high;
    unsigned *sink;
    char name[64];
    CHECK(cudaMalloc(&sink, 4));
    for (int warps : {1, 16})
        for (int stride : {1, 4, 8})
            for (int ways : {1, 2, 3, 4, 8, 16, 32}) {
                if (ways * stride > 256) continue;
                chain<<<1, warps * 32>>>(ways, stride, ROUNDS, cycles, sink);
                cycles_range(cycles, warps, &low, &high);
                snprintf(name, sizeof name, "constant/addresses/%d_words_apart/%d/%d_warps", stride, ways, warps);
                report(name, (double)high / ROUNDS / (warps > 1 ? warps : 1), "cycles/access", "indexed, lanes at so many words");
            }
    return 0;
}
