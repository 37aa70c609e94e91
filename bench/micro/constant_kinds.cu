// SPDX-License-Identifier: Apache-2.0
// Constants with fixed addresses by the two ways ptxas has them come: ULDC, through the immediate constant cache, and
// LDC, through that of indexed ones (which one it takes is seen in cuobjdump -sass). Rows:
//   ULDC, LDC  warps  places  bytes between  cycles of a load: loads of so many places in turns, another word each round;
//              the first 54 ULDC are made before the clock starts, in registers that stay
//   first      CTAs   launch  cycles from a clock to the next with a load in between (but for the first two and the
//              last), by warp 0 of CTA 0: nothing, nothing, parameter 0, its line again, 256 bytes on, 512, 3,600 bytes
//              on, 64 more, table, table + 64, table + 256, parameter 2, nothing; of launches behind another kernel and
//              behind itself. With an argument only these, to be run under ncu, with and without --cache-control none.
#include "micro.h"
__constant__ int table[16384];  // 64 KiB
struct Large {
    int v[4000 / 4];
};
template <bool UNIFORM, int N, int STEP> __global__ void walk(uint32_t *out, int *sink, int turns) {
    constexpr int LOADS = N <= 16 ? 256 : N <= 64 ? 4 * N : N;
    int s = 0, t = threadIdx.x;
    uint32_t best = ~0u;
    for (int r = 0; r < turns; r++) {
        __syncthreads();
        uint32_t t0 = clock();
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            int v = table[(k % N) * STEP + (k / N) % STEP];
            if (UNIFORM) t = (t ^ v) + 1;  // ULDC, LOP3, IADD3
            else s += v;  // LDC.64, IADD3
        }
        __syncthreads();
        uint32_t t1 = clock();
        if (r && t1 - t0 < best) best = t1 - t0;
    }
    if (!threadIdx.x) out[0] = best;
    if (s == 12345 || t == 12345) *sink = s + t;
}
static uint32_t *o;
static int *sink, zeros[16384];
template <bool U, int N, int STEP> static void row(void) {
    for (int w : {1, 2, 4, 8, 16, 32}) {
        walk<U, N, STEP><<<1, 32 * w>>>(o, sink, 4);
        CHECK(cudaDeviceSynchronize());
        printf("%s\t%d\t%d\t%d\t%.2f\n", U ? "ULDC" : "LDC", w, N, STEP * 4,
               (double)o[0] / (N <= 16 ? 256 : N <= 64 ? 4 * N : N));
    }
}
#define MARK(v)                                      \
    stop = clock();                                  \
    if (lane == 0) slot[n] = stop - start;           \
    n++;                                             \
    __syncwarp();                                    \
    start = clock();
#define USE(a) if ((t ^ (a)) == 0x7654321) { *sink = n; return; }
__global__ void first(uint32_t *out, int *sink, const Large p) {
    __shared__ uint32_t slot[32];
    uint32_t start = clock(), stop;
    int n = 0, lane = threadIdx.x, t = lane;
    MARK()
    MARK()
    USE(p.v[0]) MARK()
    USE(p.v[1]) MARK()
    USE(p.v[64]) MARK()
    USE(p.v[128]) MARK()
    USE(p.v[900]) MARK()
    USE(p.v[916]) MARK()
    USE(table[0]) MARK()
    USE(table[16]) MARK()
    USE(table[64]) MARK()
    USE(p.v[2]) MARK()
    MARK()
    if (lane == 0 && blockIdx.x == 0) for (int i = 0; i < n; i++) out[i] = slot[i];
}
__global__ void other(int *x) { if (x) *x = 1; }
int main(int argc, char **) {
    CHECK(cudaMallocManaged(&o, 256));
    CHECK(cudaMallocManaged(&sink, 64));
    CHECK(cudaMemcpyToSymbol(table, zeros, sizeof zeros));
    if (argc == 1) {
        row<true, 8, 16>();
        row<true, 16, 16>();
        row<true, 24, 16>();
        row<true, 32, 16>();
        row<true, 40, 16>();
        row<true, 48, 16>();
        row<true, 64, 16>();
        row<true, 128, 16>();
        row<true, 256, 16>();
        row<true, 512, 16>();
        row<true, 8, 64>();
        row<true, 16, 64>();
        row<true, 64, 64>();
        row<true, 256, 64>();
        row<true, 512, 4>();
        row<true, 1024, 4>();
        row<false, 16, 16>();
        row<false, 32, 16>();
        row<false, 64, 16>();
        row<false, 256, 16>();
    }
    Large p = {};
    for (int ctas : {1, 132, 1056}) for (int launch = 0; launch < 3; launch++) {
        if (!launch) other<<<1, 32>>>(nullptr);
        CHECK(cudaDeviceSynchronize());
        first<<<ctas, 32>>>(o, sink, p);
        CHECK(cudaDeviceSynchronize());
        printf("first\t%d\t%d", ctas, launch);
        for (int i = 0; i < 13; i++) printf("\t%u", o[i]);
        printf("\n");
    }
}
