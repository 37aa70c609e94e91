// SPDX-License-Identifier: Apache-2.0
// Loads of lines that are on their way to the L1: a warp loads `lines` lines, and then again and again other words of them,
// without waiting; how long until all are there? The lines are in the L2.
#include "micro.h"

typedef struct Form {
    int stride;  // bytes between lanes
    int step;    // bytes between loads
} Form;

template <int count> __global__ void loads(const char *data, Form f, i64 *cycles, unsigned *sink) {
    const char *at = data + threadIdx.x % 32 * (size_t)f.stride + threadIdx.x / 32 * (size_t)(1 << 17);
    unsigned v[count], sum = 0;
    __syncthreads();
    i64 begin = now();
#pragma unroll
    for (int i = 0; i < count; i++) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[i]) : "l"(at + i * f.step) : "memory");
#pragma unroll
    for (int i = 0; i < count; i++) sum += v[i];
    if (sum == 0x12345678) *sink = 1;
    i64 end = now();
    if (threadIdx.x % 32) return;
    cycles[32 + threadIdx.x / 32] = end - begin;
}

static char *data;
static unsigned *sink;
static char text[512];

template <int count> static void measure(Form f, int warps, char *&to) {
    i64 *cycles = cycles_buffer(), low, high;
    for (int round = 0; round < 2; round++) loads<count><<<1, warps * 32>>>(data, f, cycles, sink);  // the second finds all in the L2
    cycles_range(cycles + 32, warps, &low, &high);
    to += sprintf(to, " %d: %lld", count, high);
}

int main() {
    CHECK(cudaMalloc(&data, 1 << 23));
    CHECK(cudaMemset(data, 0, 1 << 23));
    CHECK(cudaMalloc(&sink, 4));
    static const struct { const char *name; int stride, step; } forms[] = {
        {"32_lines/next_word", 128, 4}, {"32_lines/next_sector", 128, 32}, {"32_lines_2K/next_word", 2048, 4}, {"32_lines_2K/next_sector", 2048, 32},
        {"32_lines/next_line", 128, 4096}, {"16_lines/next_word", 64, 4}, {"8_lines/next_word", 32, 4}, {"4_lines/next_word", 16, 4}, {"4_lines/next_line", 16, 512},
        {"1_line/same", 4, 0}, {"1_line/next_line", 4, 128}, {"one_word/next_word", 0, 4}, {"one_word/next_sector", 0, 32}, {"one_word/next_line", 0, 128}};
    for (auto &f : forms)
        for (int warps : {1, 4, 8}) {
            Form form = {f.stride, f.step};
            char *to = text;
            measure<1>(form, warps, to), measure<2>(form, warps, to), measure<3>(form, warps, to), measure<4>(form, warps, to), measure<6>(form, warps, to);
            measure<8>(form, warps, to), measure<12>(form, warps, to), measure<16>(form, warps, to);
            printf("under_way/%s/%d_warps\t-\tcycles\tloads: until all are there%s\n", f.name, warps, text);
        }
    return 0;
}
