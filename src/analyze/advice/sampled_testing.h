// SPDX-License-Identifier: Apache-2.0
// Kernels of which there are only samples, made up by tests of rules: sampled_begin, subject_stall for each
// instruction, sampled_end, then what a rule says (ask), then forget.
#ifndef WARPLENS_ANALYZE_ADVICE_SAMPLED_TESTING_H
#define WARPLENS_ANALYZE_ADVICE_SAMPLED_TESTING_H

#include "analyze/advice/rule.h"
#include "analyze/analyze_testing.h"
#include "flow/flow_testing.h"

typedef struct Sampled {
    Subject subject;
    ProfileLaunch launch;
    const ProfileLaunch *rows[1];
    const KernelView *view;
    Arena arena, scratch;
    AdviceContext context;
    AdviceCase c;
} Sampled;

// A launch of 1000 blocks of 128 threads of the subject, no sample yet.
static inline KernelView *sampled_launch(Sampled *s) {
    KernelView *view = &s->subject.view;
    view->provenance = "sampled";
    view->basis = VIEW_SAMPLES;
    view->executed = view->issued = NULL;
    s->launch = (ProfileLaunch){.grid = {1000, 1, 1}, .block = {128, 1, 1}};
    s->rows[0] = &s->launch;
    view->launches =
        (ViewLaunches){.count = 1, .rows = s->rows, .typical = &s->launch, .share = 1, .alike = 1, .shapes = 1};
    return view;
}

// The same of a kernel with the body in PTX.
static inline KernelView *sampled_begin(Sampled *s, const char *body) {
    subject_ptx(&s->subject, body);
    return sampled_launch(s);
}

// Behind a load of global memory.
static inline bool waits_for_load(const KernelView *view, u32 pc) {
    const FlowInsn *insns = view->flow.code->insns;
    return pc && insns[pc - 1].is_load && insns[pc - 1].space == SPACE_GLOBAL;
}

// Each instruction was caught issuing ten times, in loops a hundred times; what comes after a load waited for it.
static inline void sample_waits(Sampled *s, const KernelView *view, u32 wait_for_load) {
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        bool waits = waits_for_load(view, pc);
        bool turns = view->flow.loops->loop_of[view->flow.cfg->block_of[pc]] != WL_NONE;
        subject_stall(&s->subject, pc, STALL_SELECTED, turns ? 100 : 10);
        subject_stall(&s->subject, pc, waits ? STALL_LONG_SCOREBOARD : STALL_WAIT, waits ? wait_for_load : 20);
    }
}

static inline void sampled_end(Sampled *s) {
    s->view = &s->subject.view;
    s->arena = s->scratch = (Arena){0};
    s->context = (AdviceContext){.arena = &s->arena, .kernels = &s->view, .kernel_count = 1};
    assert_int_equal(case_make(&s->context, s->view, &s->scratch, &s->c), STATUS_OK);
}

// The first place that the rule has found; NULL: none.
static inline const Hit *ask(Sampled *s, const char *rule) {
    u32 before = s->c.hits.len, i = 0;
    while (strcmp(advice_rules[i].name, rule)) i++;
    s->c.rule = &advice_rules[i];
    advice_functions[i](&s->c);
    assert_int_equal(s->c.status, STATUS_OK);
    return s->c.hits.len > before ? s->c.hits.data[before] : NULL;
}

// Samples of the reason that go.
static inline f64 samples_gone(const Hit *hit, StallReason reason) {
    f64 gone = 0;
    for (u32 i = 0; i < hit->spots.len; i++)
        if (hit->spots.data[i].reason == reason) gone += hit->spots.data[i].samples;
    return gone;
}

static inline void forget(Sampled *s) {
    case_free(&s->c);
    arena_free(&s->scratch);
    arena_free(&s->arena);
    subject_free(&s->subject);
}

// The same of machine code.
typedef struct Machine {
    SassModule module;
    FlowCode *code;
    Sampled s;
} Machine;

// Lines as of sass_of_lines(), and for each how often it was caught issuing; NULL: each ten times.
static inline void machine_begin(Machine *m, const char *const *lines, const u32 *issued) {
    *m = (Machine){0};
    Subject *subject = &m->s.subject;
    sass_of_lines(&m->module, lines);
    FlowSassSource source = {.module = &m->module, .is_entry = true, .param_base = 0x210};
    assert_int_equal(flow_from_sass(&source, &subject->arena, &m->code), STATUS_OK);
    subject_init(subject, VIEW_SASS, m->code);
    sampled_launch(&m->s);
    for (u32 pc = 0; pc < m->code->insn_count; pc++) {
        subject_stall(subject, pc, STALL_SELECTED, issued ? issued[pc] : 10);
        subject->places[pc].line = 7;
    }
}

static inline void machine_end(Machine *m) {
    forget(&m->s);
    sass_free(&m->module);
}

// What the rule's first place has of what `measure` tells, -1: it has found none; then the kernel is forgotten.
static inline f64 measured_of(Sampled *s, const char *rule, f64 (*measure)(const Sampled *, const Hit *)) {
    const Hit *hit = ask(s, rule);
    f64 value = hit ? measure(s, hit) : -1;
    forget(s);
    return value;
}

#define BEGIN                                                                                            \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;\n" \
    "ld.param.u64 %rd1, [p]; cvt.u32.u64 %r5, %rd1; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"

// A GPU whose L2 is known to take its time for atomics.
static const GpuModel gpu_of_atomics = {.sms = 100,
                                        .warp_schedulers = 4,
                                        .clock_mhz = 2000,
                                        .noc_clock_mhz = 1600,
                                        .l1_latency = 30,
                                        .l2_latency = 200,
                                        .dram_latency = 300,
                                        .l2_atomic_interval = 50};

#endif
