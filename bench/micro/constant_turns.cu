// SPDX-License-Identifier: Apache-2.0
// Constants of user arrays that all lanes of a warp index alike, turn by turn: ULDC with a register in its address
// (which loads come by ULDC and which by LDC is seen in nvdisasm). Rows:
//   kind  warps  entries  bytes  apart  cycles of a turn
// kinds: none (the loop alone), fixed (the same word in each turn), uniform (one load of the entry that the turn says),
// two, four (so many of them, `apart` from each other), lane (each lane has the same index in a register: LDC),
// both (uniform and lane), param (uniform, and a parameter in each turn), work16, work64 (uniform, and so many dependent
// additions), phases, lanes (uniform, lane; `warps` CTAs of a warp on each SM, each of which begins elsewhere; mean).
#include "micro.h"
__constant__ float table[16384];  // 64 KiB
struct Args {
    int entries, stride, turns, apart;
    float scale;
};
enum { NONE, FIXED, UNIFORM, TWO, FOUR, LANE, BOTH, PARAM, WORK16, WORK64, PHASES, LANES };
template <int KIND, int WORK> static __device__ __forceinline__ float work(float s) {
#pragma unroll
    for (int k = 0; k < WORK; k++)
        s = __fadd_rn(s, 1.5f);
    return s;
}
template <int KIND, typename T> __global__ void turns(Args a, uint32_t *out, float *sink) {
    const char *base = (const char *)table;
    float s = threadIdx.x;
    int own = threadIdx.x >> 20, n = 0;  // 0, but in a register of each lane
    if (KIND == PHASES || KIND == LANES) n = blockIdx.x & (a.entries < 8 ? 3 : a.entries < 32 ? 7 : 31);
    __syncthreads();
    uint32_t t0 = clock();
#pragma unroll 1
    for (int t = 0; t < a.turns; t++) {
        int at = n * a.stride;
        if (KIND == FIXED) s += table[5];
        if (KIND == UNIFORM || KIND == TWO || KIND == FOUR || KIND == BOTH || KIND == PARAM || KIND == PHASES || KIND == WORK16 || KIND == WORK64)
            s += ((const T *)(base + at))->x;
        if (KIND == TWO || KIND == FOUR) s += ((const T *)(base + at + a.apart))->x;
        if (KIND == FOUR) s += ((const T *)(base + at + 2 * a.apart))->x + ((const T *)(base + at + 3 * a.apart))->x;
        if (KIND == LANE || KIND == BOTH || KIND == LANES) s += ((const T *)(base + at + own + (KIND == BOTH ? a.apart : 0)))->x;
        if (KIND == PARAM) s *= a.scale;
        if (KIND == WORK16) s = work<KIND, 16>(s);
        if (KIND == WORK64) s = work<KIND, 64>(s);
        n = n + 1 == a.entries ? 0 : n + 1;
    }
    __syncthreads();
    uint32_t t1 = clock();
    if (!threadIdx.x) out[blockIdx.x] = t1 - t0;
    if (s == 1.2345f) *sink = s;
}
enum { MOST = 32 * 256 };
static uint32_t *o, host[MOST];
static float *sink;
static int sms;
static double mean(int ctas) {
    double sum = 0;
    CHECK(cudaMemcpy(host, o, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ctas; i++)
        sum += host[i];
    return sum / ctas;
}
template <int KIND, typename T> static void row(const char *name, int entries, int stride, int apart) {
    for (int w : {1, 2, 4, 8, 16, 32}) {
        Args a = {entries, stride, 1024, apart, 1.0f};
        bool many = KIND == PHASES || KIND == LANES;
        int ctas = many ? w * sms : 1, threads = many ? 32 : 32 * w;
        double best = 1e30, cycles;
        for (int r = 0; r < 3; r++) {
            turns<KIND, T><<<ctas, threads>>>(a, o, sink);
            if ((cycles = mean(ctas)) < best) best = cycles;
        }
        printf("%s\t%d\t%d\t%d\t%d\t%.2f\n", name, w, entries, (int)sizeof(T), stride, best / 1024);
    }
}
struct F1 {
    float x;
};
int main(void) {
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&o, sizeof host));
    CHECK(cudaMalloc(&sink, 4));
    printf("# kind\twarps\tentries\tbytes\tapart\tcycles of a turn\n");
    row<NONE, F1>("none", 45, 16, 0);
    row<FIXED, F1>("fixed", 45, 16, 0);
    for (int entries : {1, 4, 16, 45, 128, 512})
        row<UNIFORM, F1>("uniform", entries, 16, 0);
    for (int entries : {2, 4, 6, 7, 8, 9, 10, 12, 16, 32, 45})
        row<UNIFORM, F1>("uniform", entries, 64, 0);
    row<UNIFORM, F1>("uniform", 45, 4, 0);
    row<UNIFORM, F1>("uniform", 45, 256, 0);
    row<UNIFORM, float2>("uniform", 45, 16, 0);
    row<UNIFORM, float4>("uniform", 45, 16, 0);
    row<TWO, F1>("two", 45, 16, 8);
    row<TWO, F1>("two", 45, 64, 4096);
    row<FOUR, F1>("four", 45, 16, 4);
    row<LANE, F1>("lane", 45, 16, 0);
    row<BOTH, F1>("both", 45, 16, 8);
    row<PARAM, F1>("param", 45, 16, 0);
    row<WORK16, F1>("work16", 45, 16, 0);
    row<WORK64, F1>("work64", 45, 16, 0);
    for (int entries : {4, 8, 16, 45, 128})
        row<PHASES, F1>("phases", entries, 16, 0);
    for (int entries : {4, 6, 8, 12, 16, 45})
        row<PHASES, F1>("phases", entries, 64, 0);
    for (int entries : {4, 16, 45})
        row<LANES, F1>("lanes", entries, 16, 0);
    row<LANES, F1>("lanes", 45, 64, 0);
    return 0;
}
