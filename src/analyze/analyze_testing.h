// SPDX-License-Identifier: Apache-2.0
// For src/analyze/*_test.c only: a KernelView made by hand, of a kernel in PTX or of any FlowCode, with the stalls that
// a test wants.
#ifndef WL_ANALYZE_TESTING_H
#define WL_ANALYZE_TESTING_H

#include <stdio.h>
#include <string.h>

#include "analyze/blame.h"
#include "base/testing.h"
#include "ptx/ptx.h"

enum { SUBJECT_INSNS = 512 };

typedef struct Subject {
    Arena arena;
    Module *module;
    ProfileFunction function;
    ViewSamples samples[SUBJECT_INSNS];
    u64 executed[SUBJECT_INSNS], issued[SUBJECT_INSNS];
    ProfilePlace places[SUBJECT_INSNS];
    KernelView view;
    Blame *blame;
    u8 argument_bytes[12];
    bool argument_known[12];
    FlowArguments arguments;
} Subject;

// Of any code; every instruction was executed once and is one of the machine.
static inline void subject_init(Subject *s, ViewCode kind, const FlowCode *code) {
    s->function = (ProfileFunction){.id = 1, .name = "k", .is_entry = true, .insn_count = code->insn_count};
    s->view = (KernelView){.function = &s->function,
                           .provenance = "simulated",
                           .kind = kind,
                           .basis = VIEW_CYCLES,
                           .insn_count = code->insn_count,
                           .samples = s->samples,
                           .executed = s->executed,
                           .issued = s->issued,
                           .places = s->places};
    assert_true(code->insn_count <= SUBJECT_INSNS);
    assert_int_equal(flow_analyse(code, &s->arena, &s->view.flow), STATUS_OK);
    for (u32 pc = 0; pc < code->insn_count; pc++) s->executed[pc] = s->issued[pc] = 1;
}

// Of a kernel's body in PTX, which has the parameters p, a pointer, and n, a number, the registers %r, %rd, %f and %p,
// an array `tile` in shared memory, `table` in constant memory, a table of cuRAND's, and printf. Its instructions are
// numbered from 0.
static inline void subject_ptx(Subject *s, const char *body) {
    static char text[16384];
    int size =
        snprintf(text, sizeof text,
                 ".version 8.3\n.target sm_90\n.address_size 64\n.const .u32 table[64];\n.global .u32 "
                 "precalc_xorwow_matrix[800];\n"
                 ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                 ".visible .entry k(.param .u64 p, .param .u32 n, .param .u64 q) {\n.reg .b32 %%r<64>;\n.reg .b64 "
                 "%%rd<64>;\n.reg .f32 %%f<64>;\n"
                 ".reg .pred %%p<8>;\n.shared .align 16 .b32 tile[256];\n%s\n}\n",
                 body);
    assert_true(size > 0 && (size_t)size < sizeof text);
    memset(s, 0, sizeof *s);
    Diag diag = {0};
    FlowCode *code;
    if (ptx_parse((Str){text, (size_t)size}, "test.ptx", &s->module, &diag) != STATUS_OK)
        fail_msg("line %u: %s", diag.entries.data[0].line, diag.entries.data[0].text);
    assert_int_equal(flow_from_ptx(s->module, 1, &s->arena, &code), STATUS_OK);
    subject_init(s, VIEW_PTX, code);
}

// It was launched with that n.
static inline void subject_launched(Subject *s, u32 n) {
    memcpy(s->argument_bytes + 8, &n, 4);
    memset(s->argument_known + 8, true, 4);
    s->arguments =
        (FlowArguments){.bytes = s->argument_bytes, .known = s->argument_known, .size = sizeof s->argument_bytes};
    assert_int_equal(flow_take_arguments(&s->view.flow, &s->arguments, &s->arena), STATUS_OK);
}

static inline void subject_free(Subject *s) {
    module_free(s->module);
    arena_free(&s->arena);
}

// The compiler made no machine instruction of it.
static inline void subject_drop(Subject *s, u32 pc) { s->issued[pc] = 0; }

static inline void subject_run(Subject *s, u32 pc, u64 times) { s->executed[pc] = s->issued[pc] = times; }

static inline void subject_stall(Subject *s, u32 pc, StallReason reason, u64 samples) {
    s->samples[pc].all[reason] += samples;
    s->samples[pc].latency[reason] += samples / 2;
    s->view.total += samples;
    s->view.total_latency += samples / 2;
    if (reason == STALL_SELECTED) s->view.total_issued += samples;
}

static inline void subject_blame(Subject *s, const BlameOptions *options) {
    assert_int_equal(blame_kernel(&s->view, options, &s->arena, &s->blame), STATUS_OK);
}

static inline const BlameEdge *subject_edge(const Subject *s, u32 use, StallReason reason, u32 def) {
    for (u32 i = 0; i < s->blame->edge_count; i++) {
        const BlameEdge *edge = &s->blame->edges[i];
        if (edge->use == use && edge->reason == reason && edge->def == def) return edge;
    }
    return NULL;
}

// What of the stalls of `use` is blamed on `def`.
static inline f64 subject_blamed(const Subject *s, u32 use, StallReason reason, u32 def) {
    const BlameEdge *edge = subject_edge(s, use, reason, def);
    return edge ? edge->samples : 0;
}

#define assert_near(value, expected) assert_float_equal((value), (expected), 0.01)

#endif
