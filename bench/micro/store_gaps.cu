// SPDX-License-Identifier: Apache-2.0
// A load of the next word of a sector so many instructions behind a store to the word before it: whether it finds the
// sector in the L1.
#include "micro.h"

template <int GAP>
__global__ void walk(int n, float *y, i64 *cycles) {
    float v, t = 1;
    i64 begin = now();
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(y) : "memory");
    for (int i = 0; i < n; i++) {
        asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(v + 1) : "memory");
#pragma unroll
        for (int g = 0; g < GAP; g++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(t));
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(y + i + 1) : "memory");
    }
    cycles[0] = now() - begin;
    y[n + 1] = v + t;
}

template <int GAP>
static void measure(float *y, i64 *cycles) {
    char text[64];
    for (int warm = 0; warm < 2; warm++) walk<GAP><<<1, 1>>>(4096, y, cycles);
    snprintf(text, sizeof text, "store_gaps/%d_fma", GAP);
    report(text, cycles_read(cycles, 0) / 4096.0, "cycles/element", "");
}

int main() {
    float *y;
    i64 *cycles = cycles_buffer();
    CHECK(cudaMalloc(&y, 1 << 16));
    CHECK(cudaMemset(y, 0, 1 << 16));
    measure<0>(y, cycles);
    measure<1>(y, cycles);
    measure<2>(y, cycles);
    measure<3>(y, cycles);
    measure<4>(y, cycles);
    measure<5>(y, cycles);
    measure<6>(y, cycles);
    measure<8>(y, cycles);
    measure<10>(y, cycles);
    measure<12>(y, cycles);
    measure<16>(y, cycles);
    measure<24>(y, cycles);
    measure<32>(y, cycles);
    measure<48>(y, cycles);
}
