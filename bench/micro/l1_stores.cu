// SPDX-License-Identifier: Apache-2.0
// What the L1 counts as hits of stores and of loads beside them: one block. counters.sh measures from outside (ncu).
#include "micro.h"

static __device__ void put(void *p, unsigned v) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
static __device__ void put_byte(void *p, unsigned v) {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
static __device__ void put16(void *p, unsigned v) {
    asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(v) : "memory");
}
static __device__ unsigned get(const void *p) {
    unsigned v;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
// Long enough for everything before to have arrived.
static __device__ void pause() {
    long long t = clock64();
    while (clock64() - t < 3000) {}
}
#define KERNEL(name) extern "C" __global__ void name(char *p, unsigned *out)
enum { LINES = 64 };

KERNEL(st_line) {
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
}
KERNEL(st_line_twice) {
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
    pause();
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
}
KERNEL(st_line_twice_soon) {
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i), put(p + i * 128 + threadIdx.x * 4, i + 1);
}
KERNEL(st_sector_of_line) {  // 32 bytes a request, four requests a line, one after the other
    for (int i = 0; i < LINES * 4; i++) put_byte(p + i * 32 + threadIdx.x, i);
}
KERNEL(st_sector_of_line_slow) {
    for (int i = 0; i < LINES * 4; i++) put_byte(p + i * 32 + threadIdx.x, i), pause();
}
KERNEL(st_two_sectors_slow) {
    for (int i = 0; i < LINES * 2; i++) {
        if (threadIdx.x < 16) put(p + i * 64 + threadIdx.x * 4, i);
        pause();
    }
}
KERNEL(st_word_of_sector_slow) {  // every 4 bytes of a sector by another request
    for (int i = 0; i < LINES * 8; i++) {
        if (!threadIdx.x) put(p + i * 4, i);
        pause();
    }
}
KERNEL(st_scattered) {  // 32 lines a request; 32 requests, 4 bytes further each
    for (int i = 0; i < 32; i++) put(p + threadIdx.x * 128 + i * 4, i);
}
KERNEL(st_scattered_slow) {
    for (int i = 0; i < 32; i++) put(p + threadIdx.x * 128 + i * 4, i), pause();
}
KERNEL(st_wide) {
    for (int i = 0; i < LINES / 4; i++) put16(p + i * 512 + threadIdx.x * 16, i);
}
KERNEL(ld_then_st) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
    pause();
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
}
KERNEL(ld_sector_then_st_line) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + (threadIdx.x & 7) * 4);
    if (sum == 12345) *out = sum;
    pause();
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
}
KERNEL(st_then_ld) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i);
    pause();
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}
KERNEL(st_then_ld_soon) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) put(p + i * 128 + threadIdx.x * 4, i), sum += get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}
KERNEL(st_word_then_ld_sector) {  // a word of each sector is written, then the sectors are read
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++)
        if (threadIdx.x < 4) put(p + i * 128 + threadIdx.x * 32, i);
    pause();
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}
KERNEL(st_word_then_ld_word) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++)
        if (threadIdx.x < 4) put(p + i * 128 + threadIdx.x * 32, i);
    pause();
    for (int i = 0; i < LINES; i++)
        if (threadIdx.x < 4) sum += get(p + i * 128 + threadIdx.x * 32);
    if (sum == 12345) *out = sum;
}
KERNEL(st_sector_then_ld_other) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++)
        if (threadIdx.x < 8) put(p + i * 128 + threadIdx.x * 4, i);
    pause();
    for (int i = 0; i < LINES; i++)
        if (threadIdx.x < 8) sum += get(p + i * 128 + 32 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}
KERNEL(ld_soon_twice) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4) + get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}
KERNEL(atom_then_ld) {
    unsigned sum = 0;
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4);
    pause();
    for (int i = 0; i < LINES; i++) atomicAdd((unsigned *)(p + i * 128 + threadIdx.x * 4), 1);
    pause();
    for (int i = 0; i < LINES; i++) sum += get(p + i * 128 + threadIdx.x * 4);
    if (sum == 12345) *out = sum;
}

int main() {
    void (*const kernels[])(char *, unsigned *) = {st_line,
                                                   st_line_twice,
                                                   st_line_twice_soon,
                                                   st_sector_of_line,
                                                   st_sector_of_line_slow,
                                                   st_two_sectors_slow,
                                                   st_word_of_sector_slow,
                                                   st_scattered,
                                                   st_scattered_slow,
                                                   st_wide,
                                                   ld_then_st,
                                                   ld_sector_then_st_line,
                                                   st_then_ld,
                                                   st_then_ld_soon,
                                                   st_word_then_ld_sector,
                                                   st_word_then_ld_word,
                                                   st_sector_then_ld_other,
                                                   ld_soon_twice,
                                                   atom_then_ld};
    char *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMemset(data, 0, 1 << 20));
    for (auto kernel : kernels) kernel<<<1, 32>>>(data, (unsigned *)data);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
