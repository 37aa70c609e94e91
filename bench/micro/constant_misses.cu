// SPDX-License-Identifier: Apache-2.0
// Constants with fixed addresses. Rows:
//   turns  warps  lines  cycles of a load: loads of N 64-byte lines in turns, each behind the other (FFMA)
//   apart  warps  lines  the same, 8 independent sums
//   cold   warps (1000 and more: of 132 CTAs)  lines  cycles of a later walk  of the first one in a launch after the
//          constants were written, ... and the L2 emptied, ... neither: one load a line
//   words  warps  lines  all 16 words of N lines, line by line
#include "micro.h"
__constant__ float table[15360];  // 60 KiB
enum { TURNS, APART, COLD, WORDS };
static const char *const names[] = {"turns", "apart", "cold", "words"};
template <int KIND, int N> __global__ void walk(uint32_t *out, float *sink, int turns) {
    constexpr int CHAINS = KIND == TURNS ? 1 : 8, LOADS = KIND == COLD ? N : KIND == WORDS ? N * 16 : N < 256 ? 256 : N;
    float s[CHAINS] = {};
    uint32_t best = ~0u;
    for (int r = 0; r < turns; r++) {
        __syncthreads();
        uint32_t t0 = clock();
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            int word = KIND == WORDS ? k : (k % N) * 16 + ((k / N) & 15);
            s[k % CHAINS] = s[k % CHAINS] * 1.0001f + table[word];
        }
        __syncthreads();
        uint32_t t1 = clock();
        if ((r || KIND == COLD) && t1 - t0 < best) best = t1 - t0;
        if (KIND == COLD && r == 0 && threadIdx.x == 0) out[1] = t1 - t0;
    }
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += s[i];
    if (!threadIdx.x && !blockIdx.x) out[0] = best;
    if (sum == 12345.f) *sink = sum;
}
static uint32_t *o;
static char *flush;
static float *sink, zeros[15360];
template <int KIND, int N> static void row(void) {
    for (int w : {1, 4, 16, 32, 1004, 1032}) {
        uint32_t first[3] = {};
        if (w > 1000 && KIND != COLD) break;
        for (int launch = 0; launch < (KIND == COLD ? 3 : 1); launch++) {
            if (launch < 2) CHECK(cudaMemcpyToSymbol(table, zeros, sizeof zeros));
            if (launch == 1) CHECK(cudaMemset(flush, 0, 256 << 20));
            int ctas = w > 1000 ? 132 : 1;
            walk<KIND, N><<<ctas, 32 * (w % 1000)>>>(o, sink, 4);
            CHECK(cudaDeviceSynchronize());
            first[launch] = o[1];
        }
        int loads = KIND == COLD ? 1 : KIND == WORDS ? N * 16 : N < 256 ? 256 : N;
        printf("%s\t%d\t%d\t%.2f", names[KIND], w, N, (double)o[0] / loads);
        if (KIND == COLD) printf("\t%u\t%u\t%u", first[0], first[1], first[2]);
        printf("\n");
    }
}
template <int KIND> static void few(void) {
    row<KIND, 1>();
    row<KIND, 8>();
    row<KIND, 16>();
    row<KIND, 32>();
    row<KIND, 40>();
    row<KIND, 64>();
}
int main(void) {
    CHECK(cudaMallocManaged(&o, 64));
    CHECK(cudaMallocManaged(&sink, 64));
    CHECK(cudaMalloc(&flush, 256 << 20));
    few<TURNS>();
    row<TURNS, 10>();
    row<TURNS, 12>();
    row<TURNS, 14>();
    row<TURNS, 36>();
    row<TURNS, 48>();
    row<TURNS, 512>();
    row<TURNS, 768>();
    row<TURNS, 960>();
    few<APART>();
    row<APART, 256>();
    few<COLD>();
    row<COLD, 256>();
    few<WORDS>();
}
