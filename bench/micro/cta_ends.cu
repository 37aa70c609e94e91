// SPDX-License-Identifier: Apache-2.0
// CTAs of equal work, eight at a time on an SM, twelve for each: whether those that are there together also end
// together, and so how evenly the next ones are dealt to the SMs. `cta_ends/KIND/THREADS/spread`: of an SM's first
// eight the last one's time over the first one's, mean of the SMs, and in the note when each of them ends, in the order
// in which they began, over the first one's; `.../first`: when the first one ends; `.../dealt`: most CTAs of an SM;
// `.../even`: time of the launch over the mean time that SMs were busy. KIND is what sets the pace. `cta_ends KIND`:
// that one alone.
//   fma       issue                             chain      latency of arithmetic
//   shared    a chain of loads from shared      shared4    ... with conflicts of four
//             memory
//   shared_s  a load as in `shared` and a       shared4_s  a load as in `shared4` and a store as well
//             store in each turn
//   shared4_1 a load as in `shared4`, a store   store4     stores with conflicts of four
//             without conflicts
//   two4      two independent loads, conflicts  load       a chain of loads that hit the L1
//             of four
//   load4     ... of four lines                 load4_s    ... and a store to four others
//   lines     loads of a line for each lane,    dram       rows of DRAM
//             which hit the L2
//   ex2       a chain of special functions      f2i        a chain of conversions to and fro
#include <cstring>

#include "micro.h"

constexpr int RESIDENT = 8, ALL = 12, SMS = 132;

enum Kind {
    FMA,
    CHAIN,
    EX2,
    F2I,
    SHARED,
    SHARED4,
    SHARED_S,
    SHARED4_S,
    SHARED4_1,
    STORE4,
    TWO4,
    LOAD,
    LOAD4,
    LOAD4_S,
    LINES,
    DRAM
};

struct Times {
    i64 begin, end;
    unsigned sm, pad;
};

__device__ static inline i64 global_ns() {
    i64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

template <int kind> __device__ static float work(int turns, const float *data, float *stored, volatile float *shared) {
    constexpr bool conflicts =
        kind == SHARED4 || kind == SHARED4_S || kind == SHARED4_1 || kind == STORE4 || kind == TWO4;
    constexpr bool lines = kind == LOAD4 || kind == LOAD4_S;
    int t = threadIdx.x, at = conflicts ? t % 32 * 4 : lines ? t % 4 * 32 + t / 4 % 8 : t % 32;
    int to = kind == SHARED_S || kind == SHARED4_1 ? t : t % 32 * 4 + t / 32;
    float x = (float)t, z = x, y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float *mine = data + (kind == DRAM ? ((size_t)blockIdx.x * blockDim.x + t) * 4 : 0);
    for (int i = 0; i < turns; i++) {
        if (kind == FMA)
#pragma unroll
            for (int k = 0; k < 8; k++) y[k] = y[k] * 0.99f + x;
        if (kind == EX2) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
        if (kind == F2I) x = (float)((int)x + 1);
        if (kind == CHAIN) x = x * 0.99f + 1.0f;
        if (kind >= SHARED && kind <= SHARED4_1 || kind == TWO4) x = shared[(at + (int)x) & 1023];
        if (kind == TWO4) z = shared[(at + 1 + (int)z) & 1023];
        if (kind >= SHARED_S && kind <= STORE4) shared[1024 + to] = 0;
        if (kind == LOAD || lines) x = mine[(at + (int)x) & 1023];
        if (kind == LOAD4_S) stored[(blockIdx.x * 256 + t / 32 * 128 + at)] = x;
        if (kind == LINES) x = mine[(((t + i * 37) & 2047) * 64 + (int)x) & 0x1ffff];
        if (kind == DRAM) x += mine[(size_t)i * gridDim.x * blockDim.x * 4];
    }
    for (int k = 0; k < 8; k++) x += y[k];
    return x + z;
}

template <int kind> __global__ void ctas(int turns, const float *data, float *stored, Times *times, float *out) {
    __shared__ float shared[1024 + 5 * 1024];  // 24 KiB: eight of them on an SM
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) shared[i] = 0;
    __syncthreads();
    i64 begin = global_ns();
    float x = work<kind>(turns, data, stored, shared);
    __syncthreads();
    if (x == 77.0f) out[0] = x;
    if (threadIdx.x == 0) {
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        times[blockIdx.x] = {begin, global_ns(), sm, 0};
    }
}

// Of each SM: times of the first CTAs, how many it had, how long it was busy.
static void evaluate(const char *kind, int threads, const Times *times, int count) {
    static Times of[256][256];
    int counts[256] = {}, most = 0, sms = 0;
    double spread = 0, busy = 0, ends[RESIDENT] = {};
    i64 first = times[0].begin, last = 0;
    for (int i = 0; i < count; i++) {
        of[times[i].sm][counts[times[i].sm]++] = times[i];
        if (times[i].begin < first) first = times[i].begin;
        if (times[i].end > last) last = times[i].end;
    }
    for (int s = 0; s < 256; s++) {
        if (!counts[s]) continue;
        i64 soon = INT64_MAX, late = 0, end = 0;
        sms++;
        for (int i = 0; i < counts[s]; i++) {
            i64 took = of[s][i].end - first;
            if (took > end) end = took;
            if (i >= RESIDENT) continue;
            ends[i] += took;
            if (took < soon) soon = took;
            if (took > late) late = took;
        }
        spread += (double)late / soon;
        busy += (double)end;
        if (counts[s] > most) most = counts[s];
    }
    char name[96], note[128] = "";
    for (int i = 0, used = 0; i < RESIDENT; i++)
        used += snprintf(note + used, sizeof note - used, "%s%.2f", i ? " " : "", ends[i] / ends[0]);
    snprintf(name, sizeof name, "cta_ends/%s/%d/spread", kind, threads);
    report(name, spread / sms, "ratio", note);
    snprintf(name, sizeof name, "cta_ends/%s/%d/first", kind, threads);
    report(name, ends[0] / sms, "ns", "");
    snprintf(name, sizeof name, "cta_ends/%s/%d/dealt", kind, threads);
    report(name, most, "CTAs", "");
    snprintf(name, sizeof name, "cta_ends/%s/%d/even", kind, threads);
    report(name, (last - first) / (busy / sms), "ratio", "");
}

static const char *only;  // KIND, or NULL for all

template <int kind> static void measure(const char *name, int turns, float *data, float *out) {
    if (only && strcmp(only, name)) return;
    static Times host[SMS * ALL];
    Times *times;
    CHECK(cudaMalloc(&times, sizeof host));
    for (int threads : {32, 64, 128, 256}) {
        ctas<kind><<<SMS * ALL, threads>>>(turns, data, data + (1 << 20), times, out);
        CHECK(cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost));
        evaluate(name, threads, host, SMS * ALL);
    }
    CHECK(cudaFree(times));
}

int main(int argc, char **argv) {
    float *data, *out;
    if (argc > 1) only = argv[1];
    size_t bytes = (size_t)SMS * ALL * 256 * 16 * 64;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    CHECK(cudaMalloc(&out, 4));
    measure<FMA>("fma", 2000, data, out);
    measure<CHAIN>("chain", 4000, data, out);
    measure<EX2>("ex2", 2000, data, out);
    measure<F2I>("f2i", 2000, data, out);
    measure<SHARED>("shared", 1000, data, out);
    measure<SHARED4>("shared4", 1000, data, out);
    measure<SHARED_S>("shared_s", 1000, data, out);
    measure<SHARED4_S>("shared4_s", 1000, data, out);
    measure<SHARED4_1>("shared4_1", 1000, data, out);
    measure<STORE4>("store4", 1000, data, out);
    measure<TWO4>("two4", 1000, data, out);
    measure<LOAD>("load", 1000, data, out);
    measure<LOAD4>("load4", 1000, data, out);
    measure<LOAD4_S>("load4_s", 1000, data, out);
    measure<LINES>("lines", 200, data, out);
    measure<DRAM>("dram", 64, data, out);
    return 0;
}
