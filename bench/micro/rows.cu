// SPDX-License-Identifier: Apache-2.0
// Threads that walk a row of memory each: loads and stores of a warp that touch 32 lines. A kernel repeats a short
// program of
//   L  load of the next element of the thread's row; each L of the program has an array of its own
//   S  store, likewise
//   W  wait until what was loaded is there
// `rows/PROGRAM/MODE/PITCH/BYTES/WARPS`: cycles for one turn of the program, of all warps of a block, and of the
// warps that are done first and last. PITCH: bytes between rows.
// MODE: same - the same element in each turn, of rows that warps share (loads hit); own - likewise, a warp has rows of
// its own; walk - a turn takes the next element of rows of its own; part - as own, by every fourth warp only: on one
// scheduler. Everything is in the L2. `rows counted`: fewer launches, for Nsight Compute.
#include <cstring>

#include "micro.h"
#include "sized.h"

constexpr unsigned program(const char *text) {  // two bits each, the first lowest
    unsigned p = 0;
    for (int i = 0; text[i]; i++) p |= (text[i] == 'L' ? 1u : text[i] == 'S' ? 2u : 3u) << 2 * i;
    return p;
}

enum { APART = (4 << 20) + 1152, ENDS = 1024 };  // bytes between arrays; where the times begin at which warps are done

template <int bytes, unsigned p, int array = 0>
__device__ static inline void turn(char *at, unsigned *sum, unsigned *loaded, unsigned &wait) {
    if constexpr (p != 0) {
        if constexpr ((p & 3) == 1) {
            loaded[array] = load<bytes>(at + array * (size_t)APART + wait);
        } else if constexpr ((p & 3) == 2) {
            store<bytes>(at + array * (size_t)APART, wait);
        } else {
            for (int i = 0; i < array; i++) *sum += loaded[i];
            wait = *sum == 0x12345678;  // never
        }
        turn<bytes, p / 4, array + ((p & 3) != 3)>(at, sum, loaded, wait);
    }
}

// Turns take the elements of `elements` in turns.
template <int bytes, unsigned p>
__global__ void rows(char *data, int pitch, int shared, int each, int turns, int elements, i64 *cycles) {
    int warp = threadIdx.x / 32 / each,
        row = threadIdx.x % 32 + (shared ? 0 : (blockIdx.x * (blockDim.x / 32 / each) + warp) * 32);
    char *at = data + row * (size_t)pitch;
    unsigned sum = 0, loaded[16] = {}, wait = 0;
    if (threadIdx.x / 32 % each) turns = 0;
    for (int warm = 0; warm < 2 && turns; warm++) turn<bytes, p>(at, &sum, loaded, wait);
    __syncthreads();
    i64 begin = now();
    for (int i = 0; i < turns; i++) turn<bytes, p>(at + i % elements * bytes, &sum, loaded, wait);
    i64 done = now() + (sum == 0x12345678);
    if (turns && threadIdx.x % 32 == 0 && blockIdx.x == 0) cycles[ENDS + warp] = done - begin;
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = now() - begin;
}

// When a warp issues each of ISSUED loads or stores that it does not wait for: all that are not yet served have to be
// kept somewhere.
enum { ISSUED = 48 };
template <bool write> __global__ void issue(char *data, int pitch, int each, i64 *cycles) {
    char *at = data + threadIdx.x * (size_t)pitch;
    unsigned v[ISSUED], when[ISSUED], sum = 0, begin;
    if (threadIdx.x / 32 % each) return;
    for (int i = 0; i < ISSUED; i++) sum += load<4>(at + i * 4);
    if (sum == 0x12345678) at++;
    asm volatile("bar.warp.sync 0xffffffff; mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
#pragma unroll
    for (int i = 0; i < ISSUED; i++) {
        if (write)
            store<4>(at + i * 4, begin);
        else
            v[i] = load<4>(at + i * 4);  // ptxas joins loads of one address
        asm volatile("mov.u32 %0, %%clock;" : "=r"(when[i])::"memory");
    }
#pragma unroll
    for (int i = 0; i < ISSUED && !write; i++) sum += v[i];
    if (threadIdx.x % 32) return;
#pragma unroll
    for (int i = 0; i < ISSUED; i++) cycles[threadIdx.x / 32 * ISSUED + i] = when[i] - begin + (sum == 0x12345678);
}

static char *data;
static bool counted;

static void issues(bool write, int pitch, int warps, int each) {
    i64 *cycles = cycles_buffer(), at[32 * ISSUED];
    for (int i = 0; i < 2; i++)
        (write ? issue<true> : issue<false>)<<<1, warps * each * 32>>>(data, pitch, each, cycles);
    CHECK(cudaMemcpy(at, cycles, sizeof at, cudaMemcpyDeviceToHost));
    for (int w = 0; w<warps; w += warps> 4 ? 5 : 1) {
        printf("rows/issue/%s/%d/%d_warps/each_%d/warp_%d\t-\tcycles\t", write ? "store" : "load", pitch, warps, each,
               w);
        for (int i = 0; i < ISSUED; i++) printf(" %lld", at[w * each * ISSUED + i]);
        printf("\n");
    }
}

template <int bytes, unsigned p>
static void measure(const char *text, const char *mode, int pitch, int warps, int blocks = 1) {
    i64 *cycles = cycles_buffer(), low, high, first, last;
    bool walk = !strcmp(mode, "walk"), own = strcmp(mode, "same");
    int each = !strcmp(mode, "part") ? 4 : 1;
    int most = (pitch < 1024 ? pitch : 1024) / bytes, turns = walk ? most : 64;
    for (int i = 0; i < 2 - counted; i++)  // the second time all is in the L2
        rows<bytes, p><<<blocks, warps * each * 32>>>(data, pitch, !own, each, turns, walk ? most : 1, cycles);
    cycles_range(cycles, blocks, &low, &high);
    cycles_range(cycles + ENDS, warps, &first, &last);
    printf("rows/%s/%s/%d/%d_bytes/%d_warps\t%.1f\tcycles/turn\t%d blocks; first warp %.1f, last %.1f\n", text, mode,
           pitch, bytes, warps, (double)high / turns, blocks, (double)first / turns, (double)last / turns);
}

template <int bytes, unsigned p> static void all(const char *text) {
    for (int pitch : {4, 8, 16, 32, 64, 128, 384, 1024, 1536, 3072, 4096}) {
        bool store = strchr(text, 'S');
        if (pitch < bytes || (bytes == 2 && pitch < 128)) continue;
        if (!store)
            for (int warps : {1, 2, 4, 8, 16, 32}) measure<bytes, p>(text, "same", pitch, warps);
        for (int warps : {1, 2, 4, 8, 16, 32}) {
            measure<bytes, p>(text, "own", pitch, warps);
            if (pitch >= 1024) measure<bytes, p>(text, "walk", pitch, warps);
            if (pitch == 1536 && warps > 1 && warps <= 8) measure<bytes, p>(text, "part", pitch, warps);
        }
    }
}

#define ALL(text)                                             \
    all<2, program(text)>(text), all<4, program(text)>(text); \
    all<16, program(text)>(text)

static void count() {
    for (int pitch : {1536, 3072, 4096})
        for (int warps : {1, 8, 16, 32}) {
            measure<2, program("LLWS")>("LLWS", "walk", pitch, warps);
            measure<4, program("LW")>("LW", "walk", pitch, warps);
            measure<4, program("S")>("S", "walk", pitch, warps);
        }
    for (int warps : {1, 8}) {
        measure<4, program("LW")>("LW", "same", 128, warps);
        measure<4, program("LW")>("LW", "same", 1536, warps);
        measure<4, program("S")>("S", "own", 128, warps);
        measure<4, program("S")>("S", "own", 1536, warps);
        measure<4, program("LSSW")>("LSSW", "own", 1536, warps);
    }
}

int main(int argc, char **) {
    CHECK(cudaMalloc(&data, 256 << 20));
    CHECK(cudaMemset(data, 0, 256 << 20));
    counted = argc > 1;
    if (counted) return count(), 0;
    for (bool write : {false, true})
        for (int pitch : {192, 256, 1536}) {
            for (int warps : {1, 2, 4, 8, 16}) issues(write, pitch, warps, 1);
            for (int warps : {2, 4}) issues(write, pitch, warps, 4);
        }
    ALL("LW");
    ALL("LLW");
    ALL("LLLLW");
    ALL("LLLLLLLLW");
    ALL("S");
    ALL("SSSS");
    ALL("SLW");
    ALL("LSW");
    ALL("SSSSLW");
    ALL("LLWS");
    all<8, program("LW")>("LW"), all<8, program("LLLLW")>("LLLLW"), all<8, program("S")>("S");
    for (int warps : {1, 8})  // all SMs at a time
        for (int pitch : {128, 1536}) {
            measure<4, program("S")>("S", "own", pitch, warps, 132);
            measure<16, program("S")>("S", "own", pitch, warps, 132);
        }
    return 0;
}
