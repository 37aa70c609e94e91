// SPDX-License-Identifier: Apache-2.0
// A load and a store of 1, 2, 4, 8 or 16 bytes of each lane, of which the first word is of use.
#ifndef WL_BENCH_SIZED_H
#define WL_BENCH_SIZED_H

template <int bytes> __device__ static inline unsigned load(const char *at) {
    unsigned v = 0;
    if (bytes == 1)
        asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    else if (bytes == 2)
        asm volatile("{ .reg .u16 h; ld.global.u16 h, [%1]; cvt.u32.u16 %0, h; }" : "=r"(v) : "l"(at) : "memory");
    else if (bytes == 4)
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    else if (bytes == 8)
        asm volatile("{ .reg .u32 a; ld.global.v2.u32 {%0, a}, [%1]; }" : "=r"(v) : "l"(at) : "memory");
    else
        asm volatile("{ .reg .u32 a, b, c; ld.global.v4.u32 {%0, a, b, c}, [%1]; }" : "=r"(v) : "l"(at) : "memory");
    return v;
}

template <int bytes> __device__ static inline void store(char *at, unsigned v) {
    if (bytes == 1)
        asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    else if (bytes == 2)
        asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"((unsigned short)v) : "memory");
    else if (bytes == 4)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    else if (bytes == 8)
        asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(v) : "memory");
    else
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(v) : "memory");
}

#endif
