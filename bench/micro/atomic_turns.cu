// SPDX-License-Identifier: Apache-2.0
// Atomics on several words in turns: all threads change word 0, word 1, ... and begin again. Words lie in a sector, in
// sectors of a line, in lines or further apart.
//   turns/OPERATION/LANES/WORDS_x_APART/BLOCKSxWARPS   cycles for an atomic of a warp, all warps together
// LANES: 1 - one lane of each warp; 32 - all lanes on the word, one after the other.
#include "micro.h"

enum Op { EXCH, ADD, ADD_F32, CAS, STORE };
static const char *const names[] = {"exch_b32", "add_u32", "add_f32", "cas_b32", "store"};
enum { ROUNDS = 64 };

template <Op op, bool RESULT> __device__ static inline unsigned change(char *at, unsigned v) {
    unsigned old = 0;
    if (op == EXCH) asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    if (op == ADD && RESULT) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    if (op == ADD && !RESULT) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    if (op == ADD_F32) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(at), "f"((float)v) : "memory");
    if (op == CAS)
        asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(at), "r"(v), "r"(v + 1) : "memory");
    if (op == STORE) asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    return old;
}

// `mixed`: warps with odd numbers store to the words instead.
template <Op op, bool RESULT>
__global__ void work(char *data, int words, i64 apart, int lanes, int mixed, i64 *cycles, unsigned *sink) {
    unsigned sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < ROUNDS; i++) {
        char *at = data + (i % words) * apart;
        if ((int)lane < lanes) {
            if (mixed && warp % 2)
                asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(i) : "memory");
            else
                sum += change<op, RESULT>(at, lane + i);
        }
    }
    if (RESULT && sum == 12345) *sink = 1;
    __threadfence();
    __syncthreads();
    i64 end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

static char *data;
static unsigned *sink;
static int sms;

template <Op op, bool RESULT> static void measure(int words, i64 apart, int lanes, int blocks, int warps, int mixed) {
    i64 *cycles = cycles_buffer(), low, high;
    char text[128];
    for (int i = 0; i < 2; i++)
        work<op, RESULT><<<blocks, warps * 32>>>(data, words, apart, lanes, mixed, cycles, sink);
    cycles_range(cycles, blocks, &low, &high);
    snprintf(text, sizeof text, "turns/%s%s%s/%d/%d_x_%lld/%dx%d", names[op], RESULT ? "" : "_red",
             mixed ? "_and_store" : "", lanes, words, apart, blocks, warps);
    report(text, high / (double)(ROUNDS * warps * blocks), "cycles", "");
}

template <Op op, bool RESULT> static void all() {
    static const struct {
        int words;
        i64 apart;
    } shapes[] = {{1, 0},   {2, 4},   {4, 4},  {8, 4},    {2, 32},   {4, 32},    {2, 128}, {8, 128},
                  {2, 512}, {8, 512}, {32, 4}, {2, 4096}, {8, 4096}, {64, 4096}, {10, 4}};
    for (auto &s : shapes) {
        for (int lanes : {1, 32}) {
            measure<op, RESULT>(s.words, s.apart, lanes, sms, 8, 0);
            measure<op, RESULT>(s.words, s.apart, lanes, 1, 8, 0);
        }
        measure<op, RESULT>(s.words, s.apart, 1, sms, 8, 1);
        measure<op, RESULT>(s.words, s.apart, 32, 1, 1, 0);
    }
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sms = properties.multiProcessorCount;
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMemset(data, 0, 1 << 20));
    CHECK(cudaMalloc(&sink, 4));
    all<EXCH, true>();
    all<ADD, true>();
    all<ADD, false>();
    all<ADD_F32, false>();
    all<CAS, true>();
    all<STORE, false>();
    return 0;
}
