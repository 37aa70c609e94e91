// SPDX-License-Identifier: Apache-2.0
// What loads and stores of 32 rows cost the ones behind them: a warp issues a short program once, without a loop, and
// waits for all that it loaded.
//   L  load of a word of each of 32 lines, which the L1 has; each an array of its own
//   M  likewise of lines that the L2 has; each time, and each M, others
//   U  load of one word by all lanes, which the L1 has
//   S  store to 32 lines, each S to an array of its own; T  to the lines of the first L, M or U
// `turns/PROGRAM/PITCH/BYTES/WARPS`: cycles from the first instruction until all is there, the least and the greatest
// of the warps of a block, the median of 15 times. PITCH: bytes between the rows of lanes.
#include <algorithm>
#include <cstring>

#include "micro.h"
#include "sized.h"

enum { TIMES = 15, APART = (1 << 20) + 1152, MISSED = 64 << 20 };  // bytes between arrays; where those of M begin

constexpr unsigned long long program(const char *text) {  // three bits each, the first lowest
    unsigned long long p = 0;
    const char letters[] = "LMUST";
    for (int i = 0; text[i]; i++)
        for (int k = 0; k < 5; k++)
            if (letters[k] == text[i]) p |= (k + 1ull) << 3 * i;
    return p;
}

typedef struct Arrays {
    char *at[10];  // of each letter; the last is that of M. Parameters, so that ptxas does not know them to be apart
} Arrays;

// at: the lane's rows; missed: how far the row of this time's first M is from that of the first.
template <int bytes, unsigned long long p, int array = 0>
__device__ static inline void turn(char *const *at, size_t missed, size_t other, unsigned *loaded) {
    if constexpr (p != 0) {
        if constexpr ((p & 7) == 1 || (p & 7) == 3) loaded[array] = load<bytes>(at[array]);
        if constexpr ((p & 7) == 2) loaded[array] = load<bytes>(at[array] + missed);
        if constexpr ((p & 7) == 4) store<bytes>(at[array], 0);
        if constexpr ((p & 7) == 5) store<bytes>(at[0], 0);
        turn<bytes, p / 8, array + 1>(at, missed, other, loaded);
    }
}

__host__ __device__ constexpr int letter(unsigned long long p, int array) { return p >> 3 * array & 7; }

template <int bytes, unsigned long long p>
__global__ void turns(Arrays arrays, int pitch, size_t other, size_t next, i64 *cycles) {
    int warp = threadIdx.x / 32;
    char *at[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        size_t lane = letter(p, k) == 3 ? 0 : threadIdx.x * (size_t)pitch;
        at[k] = (letter(p, k) == 2 ? arrays.at[9] + k * other : arrays.at[k]) + lane;
    }
    for (int i = 0; i < TIMES + 2; i++) {  // the first two make the lines of L and U come
        unsigned sum = 0, loaded[9] = {};
        __syncthreads();
        i64 begin = now();
        turn<bytes, p>(at, i * next, other, loaded);
#pragma unroll
        for (int k = 0; k < 9; k++) sum += loaded[k];
        if (sum == 77) return;  // never: the data are zero
        i64 end = now();
        if (i >= 2 && threadIdx.x % 32 == 0) cycles[(i - 2) * 32 + warp] = end - begin;
    }
}

__global__ void touch(const char *data, size_t bytes, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 32; i < bytes;
         i += gridDim.x * (size_t)blockDim.x * 32)
        sum += __ldcg((const unsigned *)(data + i));
    if (sum == 0x12345678) *sink = 1;
}

static char *data;
static bool few;  // pitches
static unsigned *sink;

template <int bytes, unsigned long long p> static void measure(const char *text, int pitch, int warps) {
    i64 *cycles = cycles_buffer(), all[TIMES * 32], low[TIMES], high[TIMES];
    size_t span = warps * 32 * (size_t)pitch, other = span + 128;  // M of a time lie behind each other
    size_t count = std::count(text, text + strlen(text), 'M'), next = strlen(text) * other;
    if (count && MISSED + (TIMES + 2) * next > (112u << 20)) return;
    if (span > APART) return;
    touch<<<132, 512>>>(data + MISSED, count ? (TIMES + 2) * next : 0, sink);
    Arrays arrays;
    for (int k = 0; k < 9; k++) arrays.at[k] = data + k * (size_t)APART;
    arrays.at[9] = data + MISSED;
    turns<bytes, p><<<1, warps * 32>>>(arrays, pitch, other, next, cycles);
    CHECK(cudaMemcpy(all, cycles, sizeof all, cudaMemcpyDeviceToHost));
    for (int i = 0; i < TIMES; i++) {
        low[i] = *std::min_element(all + i * 32, all + i * 32 + warps);
        high[i] = *std::max_element(all + i * 32, all + i * 32 + warps);
    }
    std::sort(low, low + TIMES), std::sort(high, high + TIMES);
    printf("turns/%s/%d/%d_bytes/%d_warps\t%lld\tcycles\tfirst warp %lld\n", text, pitch, bytes, warps, high[TIMES / 2],
           low[TIMES / 2]);
}

template <int bytes, unsigned long long p> static void all(const char *text) {
    for (int pitch : {4, 128, 256, 384, 512, 1024, 1536, 3072})
        for (int warps : {1, 2, 4, 8})
            if ((!few ||
                 ((pitch == 128 || pitch == 1536) && (bytes == 2 || bytes == 4) && (warps == 1 || warps == 4))) &&
                pitch >= bytes && (pitch > 4 || bytes == 4))
                measure<bytes, p>(text, pitch, warps);
}

#define STORES(t) \
    all<1, program(t)>(t), all<2, program(t)>(t), all<4, program(t)>(t), all<8, program(t)>(t), all<16, program(t)>(t);
#define LOADS(t) all<4, program(t)>(t);

int main(int argc, char **) {
    few = argc > 1;
    CHECK(cudaMalloc(&data, 128 << 20));
    CHECK(cudaMemset(data, 0, 128 << 20));
    CHECK(cudaMalloc(&sink, 4));
    LOADS("U")
    LOADS("UU") LOADS("UUUU") LOADS("L") LOADS("LL") LOADS("LLLL") LOADS("LLLLLLLL") LOADS("LU") LOADS("UL") LOADS("M")
        LOADS("MM") LOADS("MMMM") LOADS("MMMMMMMM") LOADS("MU") LOADS("MUUU") LOADS("ML") LOADS("MLLL")
            LOADS("MLLLLLLL") LOADS("LM") LOADS("LLLM") LOADS("LMLM") LOADS("MLML") STORES("SU") STORES("SSU")
                STORES("SSSSU") STORES("SSSSSSSSU") STORES("LSU") STORES("LSL") STORES("SL") STORES("LLSL") STORES("TU")
                    STORES("LTU") STORES("UTU") STORES("SM") STORES("MSU") STORES("LSLSLSU") return 0;
}
