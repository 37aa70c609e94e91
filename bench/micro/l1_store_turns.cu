// SPDX-License-Identifier: Apache-2.0
// When stores to a line leave an SM together while the SM also loads: each warp stores to its own line again and again,
// with a load of `lines` lines before each store (hits or misses of the L1), on which the store depends or not; wide
// stores of which two fill a sector; columns of a matrix. counters.sh measures from outside what the L2 is asked for; a
// line for each launch.
#include "micro.h"

enum { TURNS = 256, APART = 16 << 10 };
typedef struct Form {
    int lines, step, depends, warps, blocks;  // step: bytes from turn to turn: 0: the same lines, hits
} Form;

__global__ void turns(char *data, char *to, Form f, unsigned *out) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 + blockIdx.x * (blockDim.x / 32), sum = 0, v = 0;
    const char *from =
        data + (size_t)warp * 64 * APART + (f.lines ? lane % f.lines : 0) * APART + lane / (f.lines ? f.lines : 1) * 4;
    char *at = to + warp * 128 + lane * 4;
    for (int i = 0; i < TURNS; i++) {
        if (f.lines) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(from + (size_t)i * f.step) : "memory");
        if (f.depends) sum += v;
        asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(sum) : "memory");
        if (!f.depends && v == 77777) sum++;
    }
    if (sum == 12345) *out = sum;
}

// A vector of 16 bytes every `stride` bytes, `count` of them `step` apart.
template <int count> __global__ void wide(char *to, int stride, int step, int groups) {
    size_t all = (size_t)gridDim.x * blockDim.x * stride;
    char *at = to + (threadIdx.x + (size_t)blockIdx.x * blockDim.x) * stride;
    for (int g = 0; g < groups; g++, at += all)
#pragma unroll
        for (int k = 0; k < count; k++)
            asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(at + k * step), "r"(g) : "memory");
}

// The same, with what a load has brought.
template <int count> __global__ void copy_wide(char *to, const char *from, int stride) {
    size_t first = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    uint4 v[count];
#pragma unroll
    for (int k = 0; k < count; k++) v[k] = *(const uint4 *)(from + first * stride + k * 16);
#pragma unroll
    for (int k = 0; k < count; k++) *(uint4 *)(to + first * stride + k * 16) = v[k];
}
template <int count> __global__ void copy_words(unsigned *to, const unsigned *from) {
    size_t first = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    unsigned v[count];
#pragma unroll
    for (int k = 0; k < count; k++) v[k] = from[first * count + k];
#pragma unroll
    for (int k = 0; k < count; k++)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(to + first * count + k), "r"(v[k]) : "memory");
}

// to[x][y] = from[y][x], tiles of `wide` lanes by threads / wide.
__global__ void transpose(unsigned *to, const unsigned *from, int size) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    to[(size_t)x * size + y] = from[(size_t)y * size + x];
}
__global__ void columns(unsigned *to, int size) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    to[(size_t)x * size + y] = x;
}

int main() {
    char *data, *to;
    unsigned *out;
    CHECK(cudaMalloc(&data, 1ull << 30));
    CHECK(cudaMalloc(&to, 256 << 20));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemset(data, 0, 1ull << 30));
    for (int warps : {1, 4, 8})
        for (int depends : {0, 1})
            for (int lines : {0, 1, 2, 4, 8, 16, 32})
                for (int step : {0, 4, 128}) {
                    if (!lines && (step || depends)) continue;
                    Form f = {lines, step, depends, warps, 1};
                    turns<<<1, warps * 32>>>(data, to, f, out);
                    CHECK(cudaDeviceSynchronize());
                    printf("turns\t%d\t%d\t%d\t%d\n", lines, step, depends, warps);
                }
    for (int blocks : {1, 132, 1056})
        for (int warps : {1, 8}) {
            wide<2><<<blocks, warps * 32>>>(to, 32, 16, 8), printf("wide\t2\t%d\t%d\n", blocks, warps);
            wide<4><<<blocks, warps * 32>>>(to, 64, 16, 8), printf("wide\t4\t%d\t%d\n", blocks, warps);
            copy_wide<2><<<blocks, warps * 32>>>(to, data, 32), printf("copy_wide\t2\t%d\t%d\n", blocks, warps);
            copy_wide<4><<<blocks, warps * 32>>>(to, data, 64), printf("copy_wide\t4\t%d\t%d\n", blocks, warps);
            copy_words<2><<<blocks, warps * 32>>>((unsigned *)to, (unsigned *)data),
                printf("copy_words\t2\t%d\t%d\n", blocks, warps);
            copy_words<3><<<blocks, warps * 32>>>((unsigned *)to, (unsigned *)data),
                printf("copy_words\t3\t%d\t%d\n", blocks, warps);
            copy_words<4><<<blocks, warps * 32>>>((unsigned *)to, (unsigned *)data),
                printf("copy_words\t4\t%d\t%d\n", blocks, warps);
            copy_words<8><<<blocks, warps * 32>>>((unsigned *)to, (unsigned *)data),
                printf("copy_words\t8\t%d\t%d\n", blocks, warps);
            CHECK(cudaDeviceSynchronize());
        }
    for (int size : {16, 64, 512})
        for (int x : {8, 16, 32})
            for (int y : {1, 8, 16}) {
                transpose<<<dim3(size / x ? size / x : 1, size / y), dim3(x, y)>>>((unsigned *)to, (unsigned *)data,
                                                                                   size),
                    printf("transpose\t%d\t%d\t%d\n", size, x, y);
                columns<<<dim3(size / x ? size / x : 1, size / y), dim3(x, y)>>>((unsigned *)to, size),
                    printf("columns\t%d\t%d\t%d\n", size, x, y);
                CHECK(cudaDeviceSynchronize());
            }
    return 0;
}
