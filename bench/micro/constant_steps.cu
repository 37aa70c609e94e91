// SPDX-License-Identifier: Apache-2.0
// Constants that turns index (constant_turns.cu), of warps that are not in step: CTAs of one or two warps, each of
// which reads entry after entry of a table and begins with entry `slot * ahead` (slot: which of its SM's CTAs it is).
// Rows:
//   kind  ctas of an SM  warps of a CTA  entries  bytes apart  ahead  cycles of a turn (mean)  an SM's turns in 1,000
// kinds: uniform (ULDC), work (uniform, and 8 dependent additions), drift
// (uniform, and slot * 3 % 8 + 4 dependent additions).
#include "micro.h"
__constant__ float table[16384];  // 64 KiB
struct Args {
    int entries, stride, turns, zero, first[32], more[32];
};
enum { UNIFORM, WORK, DRIFT };
template <int KIND> __global__ void steps(Args a, uint32_t *out, float *sink) {
    const char *base = (const char *)table;
    int slot = blockIdx.y;
    int n = a.first[slot], more = a.more[slot];
    float s = threadIdx.x, v = a.zero + 1.0f;
    uint32_t t0 = clock();
#pragma unroll 1
    for (int t = 0; t < a.turns; t++) {
        const float *at = (const float *)(base + n * a.stride);
        s += v * at[0];
        if (KIND == WORK) {
#pragma unroll
            for (int k = 0; k < 8; k++) s = __fadd_rn(s, 1.5f);
        }
        if (KIND == DRIFT) {
#pragma unroll 1
            for (int k = 0; k < more; k++) s = __fadd_rn(s, 1.5f);
        }
        n = n + 1 == a.entries ? 0 : n + 1;
    }
    uint32_t t1 = clock();
    if (!threadIdx.x) out[blockIdx.y * gridDim.x + blockIdx.x] = t1 - t0;
    if (s == 1.2345f) *sink = s;
}
enum { MOST = 32 * 256 };
static uint32_t *o, host[MOST];
static float *sink;
static int sms;
// CTAs go to SMs in turns: of each row of the grid an SM has one.
template <int KIND> static void row(const char *name, int ctas, int warps, int entries, int stride, int ahead) {
    Args a = {entries, stride, 2048, 0};
    for (int i = 0; i < 32; i++) a.first[i] = i * ahead % entries, a.more[i] = i * 3 % 8 + 4;
    double best = 1e30, rate = 0;
    for (int r = 0; r < 3; r++) {
        steps<KIND><<<dim3(sms, ctas), 32 * warps>>>(a, o, sink);
        CHECK(cudaMemcpy(host, o, sizeof host, cudaMemcpyDeviceToHost));
        double sum = 0, rates = 0;
        int n = 0;
        for (int i = 0; i < ctas * sms; i++)
            if (host[i]) sum += host[i], rates += 1.0 * a.turns * warps / host[i], n++;
        if (n && sum / n < best) best = sum / n, rate = rates;
    }
    printf("%s\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.2f\n", name, ctas, warps, entries, stride, ahead, best / a.turns,
           1000 * rate / sms);
}
int main(void) {
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&o, sizeof host));
    CHECK(cudaMalloc(&sink, 4));
    printf("# kind\tctas\twarps\tentries\tapart\tahead\tcycles of a turn\tturns in 1000 cycles of an SM\n");
    for (int ctas : {1, 2, 4, 8, 16, 32})
        for (int ahead : {0, 1, 7}) {
            if (ctas == 1 && ahead) continue;
            for (int entries : {4, 5, 6, 8, 11, 16, 32}) row<UNIFORM>("uniform", ctas, 1, entries, 64, ahead);
            row<UNIFORM>("uniform", ctas, 1, 45, 16, ahead);
            row<WORK>("work", ctas, 1, 45, 16, ahead);
            row<WORK>("work", ctas, 1, 11, 64, ahead);
            row<DRIFT>("drift", ctas, 1, 4, 64, ahead);
            row<DRIFT>("drift", ctas, 1, 45, 16, ahead);
            row<DRIFT>("drift", ctas, 1, 11, 64, ahead);
            row<DRIFT>("drift", ctas, 1, 45, 64, ahead);
        }
    for (int ahead : {0, 7}) {
        row<UNIFORM>("uniform", 32, 2, 45, 16, ahead);
        row<UNIFORM>("uniform", 32, 2, 11, 64, ahead);
        row<DRIFT>("drift", 32, 2, 45, 16, ahead);
        row<DRIFT>("drift", 32, 2, 11, 64, ahead);
    }
    return 0;
}
