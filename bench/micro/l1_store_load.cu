// SPDX-License-Identifier: Apache-2.0
// Loads of what the same thread has just stored: which hit the L1, by the time between, the width, and whether the line
// was there. counters.sh measures from outside; a line for each launch.
#include "micro.h"

enum { TURNS = 1024 };
typedef struct Form {
    int step, off;  // bytes from turn to turn; from the store to the load
    int before;     // the lines have been loaded before
    int bytes;      // 1 or 4
    int lanes;
} Form;

template <int gap> __global__ void turns(char *data, Form f, unsigned *out) {
    unsigned sum = 0, v = threadIdx.x;
    if ((int)threadIdx.x >= f.lanes) return;
    char *at = data + threadIdx.x * 4;
    if (f.before)
        for (int i = 0; i * 128 <= TURNS * f.step; i++) {
            unsigned w;
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(w) : "l"(at + i * 128) : "memory");
            sum += w;
        }
    if (sum == 777) return;
    for (int i = 0; i < TURNS; i++, at += f.step) {
        unsigned w;
        if (f.bytes == 1)
            asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(v) : "memory");
        else
            asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
#pragma unroll
        for (int k = 0; k < gap; k++) asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(v)::"memory");
        if (f.bytes == 1)
            asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(w) : "l"(at + f.off) : "memory");
        else
            asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(w) : "l"(at + f.off) : "memory");
        v += w;
    }
    if (v == 12345) *out = v;
}

static char *data;
static unsigned *out;
template <int gap> static void launch(Form f) {
    turns<gap><<<1, 32>>>(data + 4096, f, out);
    CHECK(cudaDeviceSynchronize());
    printf("turns\t%d\t%d\t%d\t%d\t%d\t%d\n", gap, f.step, f.off, f.before, f.bytes, f.lanes);
}
int main() {
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemset(data, 0, 1 << 20));
    static const Form forms[] = {{0, 0, 0, 4, 1},    {4, 0, 0, 4, 1},  {32, 0, 0, 4, 1}, {128, 0, 0, 4, 1},
                                 {0, 4, 0, 4, 1},    {4, 4, 0, 4, 1},  {4, -4, 0, 4, 1}, {4, 32, 0, 4, 1},
                                 {0, 0, 1, 4, 1},    {4, 0, 1, 4, 1},  {32, 0, 1, 4, 1}, {128, 0, 1, 4, 1},
                                 {0, 4, 1, 4, 1},    {4, 4, 1, 4, 1},  {4, -4, 1, 4, 1}, {4, 32, 1, 4, 1},
                                 {1, 0, 0, 1, 1},    {1, 0, 1, 1, 1},  {1, -1, 1, 1, 1}, {4, 128, 1, 4, 1},
                                 {8, 0, 1, 4, 1},    {16, 0, 1, 4, 1}, {64, 0, 1, 4, 1}, {128, 0, 1, 4, 32},
                                 {128, 0, 0, 4, 32}, {0, 0, 1, 4, 32}};
    for (const Form &f : forms)
        launch<0>(f), launch<1>(f), launch<2>(f), launch<4>(f), launch<8>(f), launch<16>(f), launch<32>(f);
    return 0;
}
