// SPDX-License-Identifier: Apache-2.0
// Single instructions with generated inputs: shared by exec_gpu_test.c, which compares the functions of exec/ with
// results that tests/exec/gpu_compare.c recorded on a GPU, and by that program. Needs nothing but the functions under
// test.
#ifndef WL_SIM_EXEC_CASES_H
#define WL_SIM_EXEC_CASES_H

#include "sim/exec_testing.h"
#include "sim/test_values.h"

enum { CASE_LANES = 4096, CASE_INPUTS = 18, CASE_OUTPUTS = 8 };  // 64-bit words a lane

// Operands, the destination first; those of matrices in groups "{d..}{a..}{b..}{c..}".
// Destinations: r 32 bits, x 64, t 16, p predicate, P 32 bits|predicate, D predicate|predicate.
// Sources: f f32, d f64, i 32-bit and l 64-bit integer, s 16-bit integer, h f16, H f16x2, b bf16, B bf16x2, w two fp8,
// z f32 below 64, a amount 0..255, u 0..31, A -10..9, q predicate, m full membermask, k shfl's clamp and mask, #
// immediate; o f16 or bf16, O two of them, often the NaN that stands for out of bounds; small numbers, so that sums are
// exact: E two f16, F two bf16, G f32, Y f64, X four e4m3.
typedef struct ExecCase {
    const char *mnemonic, *operands;
    u64 hash;  // of the GPU's results; 0: not recorded, or a choice of the hardware that is not followed
} ExecCase;

static const ExecCase exec_cases[] = {
#include "sim/exec_cases.inc"
};

// --- inputs -----------------------------------------------------------------------------------------------------
static u64 case_random_state;
static u64 case_random(void) { return value_random(&case_random_state); }

static u64 case_half(u64 r) {
    static const u16 special[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7d01,
                                  0x7fff, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0x8001};
    return r >> 61 ? r & 0xffff : special[r % WL_COUNT(special)];
}
// Two integers from -8 to 8 in a 16-bit format.
static u64 case_small_pair(u64 r, u32 mantissa, u32 bias) {
    u64 pair = 0;
    for (u32 i = 0; i < 2; i++, r >>= 8) {
        u32 n = (u32)(r % 9), top = n ? 31 - (u32)__builtin_clz(n) : 0, sign = (u32)(r >> 7 & 1) << 15;
        u32 h = n ? (top + bias) << mantissa | ((n << mantissa >> top) & ((1u << mantissa) - 1)) : 0;
        pair |= (u64)(h | sign) << (16 * i);
    }
    return pair;
}
static u64 case_value(char kind) {
    u64 r = case_random();
    switch (kind) {
    case 'f': return value_f32(&case_random_state);
    case 'z': return value_f32_bits((f32)((f64)(i64)r * 0x1p-58));
    case 'd': return value_f64(&case_random_state);
    case 'i': return value_int(&case_random_state, 32);
    case 'l': return value_int(&case_random_state, 64);
    case 's': return value_int(&case_random_state, 16);
    case 'h':
    case 'b': return case_half(r);
    case 'o': return r >> 62 ? case_half(case_random()) : 0x7ff7 | (r & 0x8000);
    case 'O': return case_value('o') | case_value('o') << 16;
    case 'H':
    case 'B': return case_half(r) | case_half(case_random()) << 16;
    case 'w': return r & 0xffff;
    case 'm': return FULL_MASK;
    case '#': return 0x96;
    case 'E': return case_small_pair(r, 10, 15);
    case 'F': return case_small_pair(r, 7, 127);
    case 'G': return value_f32_bits((f32)(i32)(r % 17) - 8);
    case 'Y': return value_f64_bits((f64)(i32)(r % 17) - 8);
    case 'X': return (r & 0x87878787) | 0x38383838;  // 1 .. 1.875, either sign
    default: return value_small(kind, r);
    }
}

static bool case_is_wide(char kind) { return strchr("dlxY", kind) != NULL; }
static bool case_is_short(char kind) { return strchr("shbtwo", kind) != NULL; }

// The kinds of the destinations and of the sources, without braces.
typedef struct CaseKinds {
    char dst[16], src[32];
    u32 dsts, srcs;
    bool matrix;
} CaseKinds;
static CaseKinds case_kinds(const ExecCase *c) {
    CaseKinds k = {.matrix = c->operands[0] == '{'};
    u32 group = 0;
    for (const char *p = c->operands; *p; p++) {
        if (*p == '{')
            group++;
        else if (*p != '}') {
            bool dst = k.matrix ? group == 1 : p == c->operands;
            if (dst)
                k.dst[k.dsts++] = *p;
            else
                k.src[k.srcs++] = *p;
        }
    }
    return k;
}

// in: CASE_LANES rows of CASE_INPUTS. The same for every run of a case.
static void case_inputs(const ExecCase *c, u64 *in) {
    CaseKinds kinds = case_kinds(c);
    case_random_state = value_seed(0, c->mnemonic);
    for (u32 lane = 0; lane < CASE_LANES; lane++) {
        u64 *row = in + lane * CASE_INPUTS;
        memset(row, 0, CASE_INPUTS * 8);
        for (u32 k = 0; k < kinds.srcs; k++) {
            row[k] = case_value(kinds.src[k]);
            bool fixed = strchr("qm#k", kinds.src[k]);
            if (k && !kinds.matrix && !fixed && case_random() % 16 == 0) row[k] = row[k - 1];  // equal operands
        }
    }
}

// --- running on the simulator's functions -----------------------------------------------------------------------
enum {
    CASE_DST = 32
};  // registers and predicates: sources from 0 (predicates from 8), destinations from here (predicates 4, 5)

typedef struct CaseCode {
    CaseKinds kinds;
    Form form;
    SimInsn insn;
    ExecFn fn;
    SimOperand list[48];
} CaseCode;

// False: no such form, or not executable.
static bool case_select(const ExecCase *c, const ExecSelect *table, CaseCode *code) {
    memset(code, 0, sizeof *code);
    code->kinds = case_kinds(c);
    if (!testing_form(c->mnemonic, &code->form)) return false;
    const CaseKinds *k = &code->kinds;
    ExecShape shape = {.form = &code->form};
    SimInsn *in = &code->insn;
    testing_insn(&code->form, in);
    if (k->matrix) {
        for (u32 i = 0; i < k->dsts + k->srcs; i++) {
            char kind = i < k->dsts ? k->dst[i] : k->src[i - k->dsts];
            u32 reg = i < k->dsts ? CASE_DST + i : i - k->dsts;
            code->list[in->list_count++] = case_is_wide(kind) ? r64_operand(reg) : r32_operand(reg);
        }
    } else {
        char d = k->dst[0];
        bool predicate = d == 'p' || d == 'D';
        if (!predicate) in->dst = case_is_wide(d) ? r64_operand(CASE_DST) : r32_operand(CASE_DST);
        if (predicate || d == 'P') in->pred_dst = 4;
        if (d == 'D') in->pred_dst2 = 5;
        shape.dst_bits = predicate ? 1 : case_is_wide(d) ? 64 : case_is_short(d) ? 16 : 32;
        bool of_predicates = code->form.types[0] == TYPE_PRED && code->form.op != OP_VOTE_SYNC;
        for (u32 i = 0, slot = 0; i < k->srcs; i++) {
            char kind = k->src[i];
            if (kind == 'q') {
                if (of_predicates)
                    in->src[slot++] = 8 + i;
                else
                    in->pred_src = 8 + i;
                continue;
            }
            u32 at = kind == 'm' ? 3 : slot++;
            in->src[at] = case_is_wide(kind) ? r64_operand(i) : r32_operand(i);
            shape.src_bits[at] = case_is_wide(kind) ? 64 : case_is_short(kind) ? 16 : 32;
        }
    }
    ExecSelect select = table[code->form.op];
    code->fn = select ? select(&shape, in) : NULL;
    return code->fn != NULL;
}

static void case_load(const CaseCode *code, TestFrame *t, const u64 *rows) {
    const CaseKinds *k = &code->kinds;
    for (u32 l = 0; l < LANES; l++) {
        for (u32 i = 0; i < k->srcs; i++) {
            u64 v = rows[l * CASE_INPUTS + i];
            if (k->src[i] == 'q')
                t->pred[8 + i] = (t->pred[8 + i] & ~(1u << l)) | (u32)(v & 1) << l;
            else if (case_is_wide(k->src[i]))
                t->r64[i][l] = v;
            else
                t->r32[i][l] = case_is_short(k->src[i]) ? (u32)(v & 0xffff) | (u32)case_random() << 16 : (u32)v;
        }
    }
}
// One row of CASE_OUTPUTS words for each lane.
static void case_results(const CaseCode *code, const TestFrame *t, u64 *rows) {
    const CaseKinds *k = &code->kinds;
    for (u32 l = 0; l < LANES; l++) {
        u64 *row = rows + l * CASE_OUTPUTS;
        memset(row, 0, CASE_OUTPUTS * 8);
        for (u32 i = 0; i < k->dsts; i++) {
            char d = k->dst[i];
            u32 reg = CASE_DST + i;
            row[i] = d == 'p' || d == 'D' ? t->pred[4] >> l & 1
                     : case_is_wide(d)    ? t->r64[reg][l]
                     : d == 't'           ? t->r32[reg][l] & 0xffff
                                          : t->r32[reg][l];
        }
        if (!k->matrix && k->dst[0] == 'P') row[1] = t->pred[4] >> l & 1;
        if (!k->matrix && k->dst[0] == 'D') row[1] = t->pred[5] >> l & 1;
    }
}

static u64 case_hash(const u64 *out) {
    u64 h = VALUE_HASH_START;
    for (u32 i = 0; i < CASE_LANES * CASE_OUTPUTS; i++) h = value_hash(h, out[i]);
    return h ? h : 1;
}

#endif
