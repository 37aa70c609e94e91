// SPDX-License-Identifier: Apache-2.0
// Loads from shared memory of 4, 8 and 16 bytes whose lanes want the same or different places: cycles of the SM's unit for
// each load (16 warps), cycles of a warp alone that waits for each (`latency`), and, under Nsight Compute (`counted`: a launch a
// pattern, in this order), wavefronts. A pattern names how many different places the lanes want (`places`), which lanes
// share one (`halves`: neighbours do; `turns`: lanes that many apart) and how far apart places are, in words.
#include <cstring>
#include <string>
#include <vector>

#include "micro.h"

enum { TURNS = 64, LOADS = 8, WORDS = 8192 };

template <int BYTES> __device__ static inline unsigned load(unsigned at) {
    unsigned a, b, c, d;
    if (BYTES == 4) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at));
    if (BYTES == 8) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
    if (BYTES == 16)
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    return a;
}

// All words are 0. One chain of loads (`chain`), or LOADS independent ones a turn.
template <int BYTES> __global__ void reads(const unsigned *places, int turns, bool chain, i64 *took) {
    __shared__ __align__(16) unsigned words[WORDS];
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(words) + 4 * places[threadIdx.x % 32], sum = 0;
    __syncthreads();
    i64 from = now();
    if (chain)
        for (int i = 0; i < turns; i++) at += load<BYTES>(at);
    else
        for (int i = 0; i < turns; i++) {
            unsigned v[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) v[k] = load<BYTES>(at);
#pragma unroll
            for (int k = 0; k < LOADS; k++) sum += v[k];
        }
    __syncthreads();
    i64 to = now();
    if (threadIdx.x == 0) took[0] = to - from;
    if (at + sum == 0x12345678) took[1] = 1;
}

static const unsigned *pattern(int places, bool turns, int apart) {
    static unsigned *table;
    unsigned at[32];
    if (!table) CHECK(cudaMalloc(&table, sizeof at));
    for (int lane = 0; lane < 32; lane++) at[lane] = apart * (turns ? lane % places : lane / (32 / places));
    CHECK(cudaMemcpy(table, at, sizeof at, cudaMemcpyHostToDevice));
    return table;
}

static bool counted;

template <int BYTES> static void run(int places, bool turns, int apart) {
    const unsigned *table = pattern(places, turns, apart);
    std::string name = "shared_reads/" + std::to_string(BYTES) + "_bytes/" + std::to_string(places) + "_places/" +
                       (turns ? "turns/" : "halves/") + std::to_string(apart) + "_words/";
    i64 *took = cycles_buffer();
    if (counted) {
        reads<BYTES><<<1, 32>>>(table, TURNS, false, took);
        CHECK(cudaDeviceSynchronize());
        printf("%scounted\n", name.c_str());
        return;
    }
    for (int turn = 0; turn < 2; turn++) reads<BYTES><<<1, 512>>>(table, TURNS, false, took);
    report((name + "rate").c_str(), cycles_read(took, 0) / (double)(TURNS * LOADS * 16), "cycles", "16 warps, a load");
    for (int turn = 0; turn < 2; turn++) reads<BYTES><<<1, 32>>>(table, TURNS * 4, true, took);
    report((name + "latency").c_str(), cycles_read(took, 0) / (double)(TURNS * 4), "cycles", "a load and its sum");
}

template <int BYTES> static void run_width() {
    const int words = BYTES / 4;
    run<BYTES>(1, false, words);
    for (int places : {2, 4, 8, 16, 32})
        for (int turns = 0; turns < 2; turns++) {
            if (places == 32 && turns) continue;
            for (int apart : {words, 16, 20, 32, 36}) run<BYTES>(places, turns, apart);
        }
}

int main(int argc, char **argv) {
    counted = argc > 1 && !strcmp(argv[1], "counted");
    run_width<4>();
    run_width<8>();
    run_width<16>();
    return 0;
}
