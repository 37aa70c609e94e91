// SPDX-License-Identifier: Apache-2.0
// Constants: how long one of eight independent loads takes by the different addresses of a warp, and by how many
// 64-byte lines loads of fixed addresses touch in turns (what a cache of 2 KiB holds, and more).
#include <stdint.h>
#include <stdio.h>

__constant__ float table[512];  // 2 KiB
// every warp: 64 loads of `words` distinct addresses, `stride` words apart
__global__ void walk(uint32_t *out, int words, int stride, int turns, float *sink) {
    int base = (threadIdx.x % 32) % words * stride;
    float s = 0;
    for (int i = 0; i < 8; i++) s += table[(base + i) & 511];
    __syncthreads();
    uint32_t t0 = clock();
    for (int i = 0; i < turns; i++) {
        #pragma unroll
        for (int k = 0; k < 8; k++) s += table[(base + i + k * 8) & 511];
    }
    __syncthreads();
    uint32_t t1 = clock();
    if (!threadIdx.x) out[0] = t1 - t0;
    if (s == 12345.f) *sink = s;
}
__constant__ float big[8192];  // 32 KiB; 256 loads, unrolled, of N lines in turns
template <int N> __global__ void fixed_lines(uint32_t *out, float *sink, int turns) {
    float s = 0; uint32_t best = ~0u;
    for (int r = 0; r < turns; r++) {
        __syncthreads();
        uint32_t t0 = clock();
        #pragma unroll
        for (int k = 0; k < 256; k++) { s = s * 1.0001f + big[(k % N) * 16 + ((k / N) & 15)]; }
        __syncthreads();
        uint32_t t1 = clock();
        if (r && t1 - t0 < best) best = t1 - t0;
    }
    if (!threadIdx.x) out[0] = best;
    if (s == 12345.f) *sink = s;
}
// Rows: indexed, warps, different addresses, words between them, cycles of a load; fixed, warps, lines, -, cycles of a load.
int main(void) {
    uint32_t *o; float *sink; cudaMallocManaged(&o, 64); cudaMallocManaged(&sink, 64);
    for (int warps = 1; warps <= 16; warps *= 4)
        for (int words : {1, 2, 4, 8, 16, 32})
            for (int stride : {1, 8, 16}) {
                if (words * stride > 512) continue;
                walk<<<1, 32 * warps>>>(o, words, stride, 32, sink); cudaDeviceSynchronize();
                printf("indexed\t%d\t%d\t%d\t%.2f\n", warps, words, stride, o[0] / (32. * 8 * warps));
            }
    #define F(n) for (int w = 1; w <= 16; w *= 4) { fixed_lines<n><<<1, 32 * w>>>(o, sink, 4); cudaDeviceSynchronize(); printf("fixed\t%d\t%d\t-\t%.2f\n", w, n, o[0] / 256.); }
    F(8) F(16) F(24) F(32) F(40) F(64) F(128) F(256)
    return cudaGetLastError() != cudaSuccess;
}
