// SPDX-License-Identifier: Apache-2.0
// Lines of the L1, one by one: what is loaded is stored at `there`, so that it is waited for.
#ifndef WL_BENCH_MICRO_L1_LINES_H
#define WL_BENCH_MICRO_L1_LINES_H

#include "micro.h"

constexpr int HIT = 150;  // cycles: a load that takes fewer hits the L1

__device__ static inline void visit(const unsigned *lines, int line, volatile unsigned *there) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(lines + (size_t)line * 32) : "memory");
    *there = v;
}

__device__ static inline bool is_there(const unsigned *lines, int line, volatile unsigned *there) {
    i64 begin = now();
    visit(lines, line, there);
    return now() - begin < HIT;
}

#endif
