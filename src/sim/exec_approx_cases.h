// SPDX-License-Identifier: Apache-2.0
// Every form of the .approx and .full instructions over its whole range of arguments, as hashes: shared by
// exec_approx_test.c, which takes a part of the range, and tests/tools/approx_sweep.c, which takes all of it.
#ifndef WL_SIM_EXEC_APPROX_CASES_H
#define WL_SIM_EXEC_APPROX_CASES_H

#include "sim/exec_testing.h"
#include "sim/test_values.h"

// What the arguments are: all f32, the upper words of all f64, all halves, pairs of f32.
typedef enum ApproxRange { APPROX_F32, APPROX_F64, APPROX_HALF, APPROX_PAIR } ApproxRange;

typedef struct ApproxCase {
    const char *mnemonic;
    ApproxRange range;
    u64 gpu;   // of all arguments (2^32, 65,536 or 2^30 pairs), what an NVIDIA H200 gave (2026-11-21, driver 580,
               // CUDA 13.0)
    u64 part;  // of approx_part's arguments, what the simulator gives while it agrees with `gpu`
} ApproxCase;

static const ApproxCase approx_cases[] = {
// clang-format off
#include "sim/exec_approx_cases.inc"
    // clang-format on
};

static inline u64 approx_mix(u64 z) { return value_random(&z); }

// The n-th pair: any bits, or (odd n) an exponent of b that is that of a or up to 15 more.
static inline void approx_pair(u64 n, u32 *a, u32 *b) {
    u64 z = approx_mix(n);
    *a = (u32)z, *b = (u32)(z >> 32);
    if (n & 1) *b = ((*b & 0x807fffff) | (*a & 0x7f800000)) + (u32)(approx_mix(n * 3) & 15) * 0x00800000u;
}

enum { APPROX_DST = 32 };  // the register of results

typedef struct ApproxRun {
    TestFrame t;
    Form form;
    SimInsn insn;
    ExecFn fn;
    ApproxRange range;
} ApproxRun;

static inline bool approx_start(const ApproxCase *c, const ExecSelect *table, ApproxRun *run) {
    bool wide = c->range == APPROX_F64;
    u8 bits = wide ? 64 : c->range == APPROX_HALF ? 16 : 32;
    if (!testing_form(c->mnemonic, &run->form)) return false;
    testing_frame(&run->t);
    testing_insn(&run->form, &run->insn);
    run->insn.dst = wide ? r64_operand(APPROX_DST) : r32_operand(APPROX_DST);
    for (u32 k = 0; k < 2; k++) run->insn.src[k] = wide ? r64_operand(k) : r32_operand(k);
    ExecShape shape = {.form = &run->form, .dst_bits = bits, .src_bits = {bits, bits}};
    ExecSelect select = table[run->form.op];
    run->fn = select ? select(&shape, &run->insn) : NULL;
    run->range = c->range;
    return run->fn != NULL;
}

// The sum over arguments first, first + step, ... of a hash of argument and result; count: a multiple of LANES.
static inline u64 approx_sum(ApproxRun *run, u64 first, u64 step, u64 count) {
    TestFrame *t = &run->t;
    u64 sum = 0;
    for (u64 i = 0; i < count; i += LANES) {
        for (u32 l = 0; l < LANES; l++) {
            u64 n = first + (i + l) * step;
            t->r32[0][l] = (u32)n, t->r64[0][l] = n << 32;
            if (run->range == APPROX_PAIR) approx_pair(n, &t->r32[0][l], &t->r32[1][l]);
        }
        run->fn(&t->x, &run->insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) {
            u64 n = first + (i + l) * step, result = t->r32[APPROX_DST][l];
            if (run->range == APPROX_F64) result = t->r64[APPROX_DST][l] >> 32;
            sum += approx_mix(run->range == APPROX_PAIR ? n << 32 ^ result : (u64)(u32)n << 32 | result);
        }
    }
    return sum;
}

// A part of the range that has every exponent many times.
static inline u64 approx_part(ApproxRun *run) {
    return run->range == APPROX_HALF ? approx_sum(run, 0, 1, 65536) : approx_sum(run, 0, 65537, 65536);
}

// The whole range, in blocks of 2^20.
static inline u64 approx_whole(ApproxRun *run) {
    u64 blocks = run->range == APPROX_HALF ? 0 : run->range == APPROX_PAIR ? 1024 : 4096, all = 0;
    for (u64 b = 0; b < blocks; b++) all = approx_mix(all ^ approx_sum(run, b << 20, 1, 1 << 20));
    return blocks ? all : approx_part(run);
}

#endif
