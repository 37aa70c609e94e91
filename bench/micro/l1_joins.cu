// SPDX-License-Identifier: Apache-2.0
// Which stores leave the L1 together: groups of stores to the same sectors, or to sectors of the same lines, by the number
// of stores, of lines an instruction touches, the time and the other stores between them, and the number of warps.
// counters.sh measures from outside what the L2 is asked for (ncu); the program prints a line for each launch.
#include "micro.h"

typedef struct Form {
    int kind;    // below
    int lines;   // of an instruction
    int delay;   // cycles between the stores of a group
    int others;  // stores to other lines between them
    int rest;    // cycles between groups
    int groups;
} Form;
enum Kind { BYTES, WORDS, SECTORS, TRIPLES };

static __device__ void wait(int cycles) {
    if (cycles <= 0) return;
    long long t = clock64();
    while (clock64() - t < cycles) {}
}
static __device__ void put_byte(char *p, int v) { asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
static __device__ void put_word(char *p, int v) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// `count` stores a group; a group of a warp has 4 KiB of its own, the other stores 4 KiB behind all of them.
template <int count> __global__ void join(char *data, Form f) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 + blockIdx.x * (blockDim.x / 32), warps = gridDim.x * blockDim.x / 32;
    int per = 32 / f.lines;
    char *other = data + ((size_t)warps * f.groups << 12) + ((size_t)warp << 13) + lane * 4;
    int next = 0;
    for (int g = 0; g < f.groups; g++) {
        char *at = data + ((size_t)(g * warps + warp) << 12);
        if (f.kind == BYTES) at += lane / per * 128 + lane % per * 4;
        if (f.kind == WORDS) at += lane / per * 128 + lane % per * 32;
        if (f.kind == SECTORS) at += lane / per * 128 + lane % per * 4;
        if (f.kind == TRIPLES) at += lane * 12;
#pragma unroll
        for (int k = 0; k < count; k++) {
            if (f.kind == BYTES)
                put_byte(at + k, g);
            else
                put_word(at + k * (f.kind == SECTORS ? 32 : 4), g);
            if (k < count - 1) {
                for (int o = 0; o < f.others; o++) put_word(other + (next++ & 63) * 128, o);
                wait(f.delay);
            }
        }
        wait(f.rest);
    }
}

static char *data;

static void launch(int count, int blocks, int warps, Form f) {
    static const char *const kinds[] = {"bytes", "words", "sectors", "triples"};
    void (*const kernels[])(char *, Form) = {join<1>, join<2>, join<3>, join<4>, join<8>};
    kernels[count == 8 ? 4 : count - 1]<<<blocks, warps * 32>>>(data, f);
    CHECK(cudaDeviceSynchronize());
    printf("%s\t%d stores\t%d lines\t%d delay\t%d others\t%d rest\t%d blocks\t%d warps\t%d groups\n", kinds[f.kind], count, f.lines, f.delay, f.others, f.rest, blocks, warps, f.groups);
}

int main() {
    CHECK(cudaMalloc(&data, 1ull << 30));
    enum { REST = 2000, GROUPS = 64 };
    for (int count : {1, 2, 3, 4}) launch(count, 1, 1, {BYTES, 1, 0, 0, REST, GROUPS});
    for (int lines : {2, 4, 8, 16, 32}) launch(4, 1, 1, {BYTES, lines, 0, 0, REST, GROUPS});
    for (int lines : {8, 16, 32}) launch(2, 1, 1, {BYTES, lines, 0, 0, REST, GROUPS});
    for (int lines : {8, 16, 32}) for (int count : {2, 4, 8}) launch(count, 1, 1, {WORDS, lines, 0, 0, REST, GROUPS});
    for (int count : {1, 2, 3}) launch(count, 1, 1, {TRIPLES, 1, 0, 0, REST, GROUPS});
    for (int count : {1, 2, 4}) launch(count, 1, 1, {SECTORS, 4, 0, 0, REST, GROUPS});
    for (int count : {1, 2, 4}) launch(count, 1, 1, {SECTORS, 32, 0, 0, REST, GROUPS});
    for (int delay : {1, 30, 60, 100, 150, 200, 300, 400, 600, 1000}) launch(2, 1, 1, {BYTES, 1, delay, 0, REST, GROUPS});
    for (int delay : {1, 30, 60, 100, 150, 200, 300, 400, 600, 1000}) launch(2, 1, 1, {WORDS, 8, delay, 0, REST, GROUPS});
    for (int others : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) launch(2, 1, 1, {BYTES, 1, 0, others, REST, GROUPS});
    for (int count : {2, 4}) launch(count, 1, 1, {BYTES, 1, 0, 0, 0, GROUPS});
    for (int warps : {2, 4, 8, 16, 32}) launch(4, 1, warps, {BYTES, 1, 0, 0, REST, GROUPS});
    for (int warps : {2, 4, 8, 16, 32}) launch(4, 1, warps, {BYTES, 1, 0, 0, 0, GROUPS});
    for (int warps : {2, 4, 8, 16, 32}) launch(3, 1, warps, {TRIPLES, 1, 0, 0, 0, GROUPS});
    for (int warps : {2, 8, 32}) launch(4, 1, warps, {WORDS, 32, 0, 0, 0, GROUPS});
    for (int warps : {8, 32}) launch(4, 132, warps, {BYTES, 1, 0, 0, 0, 16});
    for (int warps : {8, 32}) launch(3, 132, warps, {TRIPLES, 1, 0, 0, 0, 16});
    for (int warps : {8, 32}) launch(4, 132, warps, {WORDS, 8, 0, 0, 0, 16});
    for (int warps : {8, 32}) launch(4, 1320, warps, {BYTES, 1, 0, 0, 0, 1});
    return 0;
}
