// SPDX-License-Identifier: Apache-2.0
// What a printf in a kernel takes: by format, arguments, lanes, warps and CTAs. The text goes to standard output, the
// rows to standard error:
//   format <tab> lanes <tab> warps <tab> ctas <tab> cycles of the first call <tab> of the second <tab> of the fourth
// (the median of the warps that print). With an argument: one launch of each row with one call, for Nsight Compute.
#include "micro.h"

#include <algorithm>
#include <vector>

#define TEXT31 "the quick brown fox jumps over."
__device__ const char *const text8 = "seven..";
__device__ const char *const text64 = TEXT31 TEXT31 "!";
enum Format {
    BARE,
    CHARS_8,
    CHARS_32,
    CHARS_128,
    INT_1,
    INT_2,
    INT_4,
    INT_8,
    LONG_1,
    DOUBLE_1,
    STRING_8,
    STRING_64,
    INT_TEXT,
    FORMATS
};
static const char *const names[] = {"1_char",   "8_chars",   "32_chars",       "128_chars", "1_int",
                                    "2_ints",   "4_ints",    "8_ints",         "1_long",    "1_double",
                                    "string_8", "string_64", "28_chars_4_ints"};

template <int F> __device__ __forceinline__ void print(int x) {
    if (F == BARE) printf("\n");
    if (F == CHARS_8) printf("seven..\n");
    if (F == CHARS_32) printf(TEXT31 "\n");
    if (F == CHARS_128) printf(TEXT31 TEXT31 TEXT31 TEXT31 "..!\n");
    if (F == INT_1) printf("%d\n", x);
    if (F == INT_2) printf("%d%d\n", x, x);
    if (F == INT_4) printf("%d%d%d%d\n", x, x, x, x);
    if (F == INT_8) printf("%d%d%d%d%d%d%d%d\n", x, x, x, x, x, x, x, x);
    if (F == LONG_1) printf("%ld\n", (long)x);
    if (F == DOUBLE_1) printf("%f\n", (double)x);
    if (F == STRING_8) printf("%s\n", text8);
    if (F == STRING_64) printf("%s\n", text64);
    if (F == INT_TEXT) printf("[%d, %d]:\t\tValue is:%d of%d\n", x, x, x, x);
}

template <int F> __global__ void prints(i64 *out, int lanes, int calls) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (lane >= lanes) return;
    for (int i = 0; i < calls; i++) {
        i64 t0 = now();
        print<F>(warp + i);
        __syncwarp(__activemask());
        i64 t1 = now();
        if (lane == 0) out[4 * warp + i] = t1 - t0;
    }
}

static i64 median(const i64 *all, int warps, int call) {
    std::vector<i64> v;
    for (int w = 0; w < warps; w++) v.push_back(all[4 * w + call]);
    std::nth_element(v.begin(), v.begin() + warps / 2, v.end());
    return v[warps / 2];
}

static i64 *device_out, host_out[4 * 8192];

template <int F> static void row(int lanes, int warps, int ctas, int calls) {
    prints<F><<<ctas, 32 * warps>>>(device_out, lanes, calls);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host_out, device_out, sizeof(i64) * 4 * warps * ctas, cudaMemcpyDeviceToHost));
    fprintf(stderr, "%s\t%d\t%d\t%d\t%lld", names[F], lanes, warps, ctas, median(host_out, warps * ctas, 0));
    if (calls > 3)
        fprintf(stderr, "\t%lld\t%lld", median(host_out, warps * ctas, 1), median(host_out, warps * ctas, 3));
    fprintf(stderr, "\n");
}

template <int F> static void formats(int calls) {
    for (int lanes : {1, 2, 32}) row<F>(lanes, 1, 1, calls);
    if constexpr (F + 1 < FORMATS) formats<F + 1>(calls);
}

int main(int argc, char **argv) {
    int calls = argc > 1 ? 1 : 4;
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 64 << 20));
    CHECK(cudaMalloc(&device_out, sizeof host_out));
    row<INT_1>(1, 1, 1, calls);
    formats<0>(calls);
    for (int lanes : {4, 8, 16}) row<INT_1>(lanes, 1, 1, calls);
    for (int lanes : {1, 8, 32})
        for (int warps : {2, 4, 8, 16, 32}) row<INT_1>(lanes, warps, 1, calls);
    for (int lanes : {1, 8, 32})
        for (int ctas : {2, 4, 16, 66, 132, 528}) row<INT_1>(lanes, 1, ctas, calls);
    for (int ctas : {4, 132}) row<INT_TEXT>(8, 1, ctas, calls);
    for (int ctas : {16, 132}) row<INT_1>(32, 8, ctas, calls);
}
