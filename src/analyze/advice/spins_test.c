// SPDX-License-Identifier: Apache-2.0
// Loops that turn until other threads change a word: which they are, and what rules say of them.
#include "analyze/advice/sampled_testing.h"

static const GpuModel *on_gpu;

// Calls are behind tests that few warps pass.
static bool calls(const KernelView *view, u32 pc) {
    const FlowBlock *b = &view->flow.cfg->blocks[view->flow.cfg->block_of[pc]];
    for (u32 i = b->first; i < b->first + b->count; i++)
        if (view->flow.code->insns[i].kind == FLOW_CALL) return true;
    return false;
}

static void sample(Sampled *s, const char *body) {
    KernelView *view = sampled_begin(s, body);
    view->gpu = on_gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        bool turns = view->flow.loops->loop_of[view->flow.cfg->block_of[pc]] != WL_NONE;
        subject_stall(&s->subject, pc, STALL_SELECTED, turns ? 100 : calls(view, pc) ? 2 : 10);
        subject_stall(&s->subject, pc, turns ? STALL_LONG_SCOREBOARD : STALL_WAIT, turns ? 400 : 20);
        if (view->flow.code->insns[pc].is_barrier) subject_stall(&s->subject, pc, STALL_BARRIER, 500);
        if (view->flow.code->insns[pc].kind == FLOW_CALL) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, 9000);
    }
    sampled_end(s);
}

// What the rule says of it; "": nothing.
static const char *says(const char *rule, const char *body) {
    static char text[256];
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, rule);
    snprintf(text, sizeof text, "%s", hit ? hit->what : "");
    forget(&s);
    return text;
}

#define TAKE "turn: atom.global.cas.b32 %r6, [%rd3], 0, 1; setp.ne.s32 %p2, %r6, 0; @%p2 bra turn;\n"
#define GIVE_BACK "atom.global.exch.b32 %r7, [%rd3], 0; ret;"
// An addition made of compare-and-swap, whose operands change.
#define RETRY(next)                                                                  \
    "ld.global.u32 %r6, [%rd3]; turn: add.s32 %r7, %r6, %r5; mov.u32 %r8, %r6;" next \
    "atom.global.cas.b32 %r6, [%rd3], %r8, %r7; setp.ne.s32 %p2, %r6, %r8;\n"        \
    "@%p2 bra turn; ret;"
#define LOOK "turn: ld.volatile.global.u32 %r6, [%rd3]; setp.ne.s32 %p2, %r6, 0; @%p2 bra turn; ret;"
// What is done under the lock lies in the loop, as where lanes of a warp take turns.
#define TRY_IT                                                                                \
    "mov.u32 %r9, 1; turn: atom.global.exch.b32 %r6, [%rd3], %r9; setp.ne.s32 %p2, %r6, 0;\n" \
    "@%p2 bra turn; ld.volatile.global.u32 %r7, [%rd3+4]; add.s32 %r7, %r7, 1;\n"             \
    "st.volatile.global.u32 [%rd3+4], %r7; atom.global.exch.b32 %r7, [%rd3], 0;\n"            \
    "setp.ne.s32 %p2, %r7, 1; @%p2 bra turn; ret;"

static void locks_are_told_from_other_exchanges(void **state) {
    (void)state;
    assert_non_null(strstr(says("lock-contention", BEGIN TAKE GIVE_BACK), "Do without the lock"));
    assert_non_null(strstr(says("lock-contention", BEGIN TRY_IT), "Do without the lock"));
    assert_string_equal(says("lock-contention", BEGIN RETRY("")), "");
    // A table that is gone through for a free place.
    assert_string_equal(says("lock-contention", BEGIN "turn: add.s64 %rd3, %rd3, 4; setp.ne.s32 %p2, %r6, 0;\n"
                                                      "atom.global.cas.b32 %r6, [%rd3], 0, %r5; @%p2 bra turn; ret;"),
                        "");
    // Words that others are to change, which nobody takes.
    assert_string_equal(says("lock-contention", BEGIN LOOK), "");
}

// Turns of who waits are no work that unrolling or fewer atomics would make less.
static void loops_that_spin_are_no_work(void **state) {
    (void)state;
    assert_string_equal(says("atomic-contention", BEGIN TAKE GIVE_BACK), "");
    assert_string_equal(says("loop-unrolling", BEGIN TAKE GIVE_BACK), "");
    assert_string_equal(says("loop-unrolling", BEGIN LOOK), "");
    assert_string_equal(says("loop-unrolling", BEGIN RETRY("")), "");
    // Another word in each turn is work.
    assert_string_not_equal(says("loop-unrolling", BEGIN RETRY("add.s64 %rd3, %rd3, 4;\n")), "");
}

// Work that is fetched by tickets, a place in a table that is claimed: nothing is added up there.
#define TICKET(more) "turn: " more " atom.global.add.u32 %r6, [%rd1], 1; setp.lt.s32 %p2, %r6, %r5; @%p2 bra turn; ret;"

static void tickets_are_not_added_up(void **state) {
    (void)state;
    Sampled s;
    on_gpu = &gpu_of_atomics;
    assert_string_equal(says("atomic-contention", BEGIN TICKET("")), "");
    sample(&s, BEGIN TICKET(""));
    assert_true(atomic_ends_loop(s.c.parts, &s.c.parts[0].accesses[s.c.parts[0].access_count - 1]));
    forget(&s);
    // The same word, whose value nobody asks for: it may.
    sample(&s, BEGIN "mov.u32 %r8, 0; turn: red.global.add.f32 [%rd1], %f1; add.s32 %r8, %r8, 1;\n"
                     "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ret;");
    assert_false(atomic_ends_loop(s.c.parts, &s.c.parts[0].accesses[s.c.parts[0].access_count - 1]));
    assert_non_null(ask(&s, "atomic-contention"));
    forget(&s);
    on_gpu = NULL;
}

// What is stored between exchanges is for others to read, be it the same word again.
static void what_a_lock_guards_is_stored(void **state) {
    (void)state;
#define CHAIN(between)                                                                             \
    BEGIN "mov.u32 %r8, 0; turn: ld.global.u32 %r6, [%rd1]; st.global.u32 [%rd1+8], %r6; " between \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ret;"
    assert_string_not_equal(says("redundant-loads", CHAIN("")), "");
    assert_string_equal(says("redundant-loads", CHAIN("atom.global.exch.b32 %r7, [%rd1+4], 0;\n")), "");
}

// Further CTAs would wait, too.
static void a_lock_is_no_lack_of_ctas(void **state) {
    (void)state;
    Sampled s;
    on_gpu = &gpu_of_atomics;
    for (u32 locked = 0; locked < 2; locked++) {
        sample(&s, locked ? BEGIN TAKE GIVE_BACK
                          : BEGIN "turn: ld.global.u32 %r6, [%rd3]; setp.ne.s32 %p2, %r6, 0;\n"
                                  "@%p2 bra turn; ret;");
        s.launch.grid[0] = 10;
        s.subject.view.occupancy.ctas_per_sm = 4;
        s.subject.view.occupancy.warps_per_cta = 4;
        assert_int_equal(ask(&s, "block-increase") == NULL, locked);
        forget(&s);
    }
    on_gpu = NULL;
}

// Nor is code of the driver's: it is what the kernel is in.
static void what_the_driver_does_is_no_lack_of_ctas(void **state) {
    (void)state;
    Sampled s;
    const CasePart *where = NULL;
    u32 pc = 0;
    on_gpu = &gpu_of_atomics;
    sample(&s, BEGIN "turn: { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1;\n"
                     "st.param.b64 [a], %rd3; call (r), vprintf, (f, a); ld.param.b32 %r6, [r]; }\n"
                     "setp.ne.s32 %p2, %r6, 0; @%p2 bra turn; ret;");
    s.launch.grid[0] = 10;
    s.subject.view.occupancy.ctas_per_sm = s.subject.view.occupancy.warps_per_cta = 4;
    for (u32 i = 0; i < s.c.parts[0].view->insn_count; i++)
        if (case_insn(s.c.parts, i)->kind == FLOW_CALL) s.c.parts[0].insns[i].blamed += s.c.load.total;
    assert_true(case_outside(&s.c, &where, &pc) > 0.5 && where == s.c.parts);
    assert_string_equal(callee_name(where, pc), "printf");
    assert_non_null(strstr(case_limit(&s.c), "spends its time in printf at"));
    assert_null(ask(&s, "block-increase"));
    forget(&s);
    on_gpu = NULL;
}

// Samples of waits at barriers that equal work would take away.
static f64 waits_for_work(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "warp-balance");
    f64 waits = hit ? hit->change.stalls : 0;
    forget(&s);
    return waits;
}

// Nor of lanes: one prints after the other.
static void who_prints_has_no_work_for_others(void **state) {
    (void)state;
#define FOR_ONE(work) BEGIN "setp.ne.s32 %p1, %r1, 0; @%p1 bra end;\n" work "end: ret;"
#define PRINT                                                                                          \
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd3;\n" \
    "call (r), vprintf, (f, a); ld.param.b32 %r6, [r]; }\n"
    assert_string_equal(says("divergence", FOR_ONE(PRINT)), "");
    assert_string_not_equal(says("divergence", FOR_ONE("add.f32 %f1, %f1, %f1; mul.f32 %f2, %f1, %f1;\n")), "");
#define MEETS(work) \
    BEGIN "setp.ne.s32 %p1, %r1, 0; @%p1 bra end;\n" work "end: bar.sync 0; st.global.u32 [%rd3], %r1; ret;"
    assert_true(waits_for_work(MEETS(PRINT)) < 100);
    assert_true(waits_for_work(MEETS("mov.u32 %r8, 0; turn: fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r8, %r8, 1;\n"
                                     "setp.lt.s32 %p2, %r8, %r1; @%p2 bra turn;\n")) > 400);
}

static void the_wait_is_the_limit(void **state) {
    (void)state;
    Sampled s;
    const CasePart *where = NULL;
    u32 pc = 0;
    sample(&s, BEGIN TAKE GIVE_BACK);
    assert_true(case_spinning(&s.c, SPIN_LOCK, &where, &pc) > 0.5 && where == s.c.parts);
    assert_true(case_insn(where, pc)->is_atomic);
    assert_non_null(strstr(case_limit(&s.c), "waits for the lock at"));
    where = NULL;
    assert_true(case_spinning(&s.c, SPIN_FLAG, &where, &pc) == 0 && !where);
    forget(&s);
    sample(&s, BEGIN LOOK);
    assert_non_null(strstr(case_limit(&s.c), "waits for other threads at"));
    forget(&s);
}

// Made of a value that stays and the word, `made` into %r7.
#define RETRY_WITH(made)                                                            \
    BEGIN "ld.global.u32 %r6, [%rd3]; turn: mov.u32 %r8, %r6;" made                 \
          "atom.global.cas.b32 %r6, [%rd3], %r8, %r7; setp.ne.s32 %p2, %r6, %r8;\n" \
          "@%p2 bra turn; ret;"
#define SUM_OF_REALS(add)                                                                                     \
    BEGIN "cvt.rn.f32.s32 %f1, %r5; ld.global.u32 %r6, [%rd3]; turn: mov.b32 %f2, %r6; mov.u32 %r8, %r6;" add \
          "mov.b32 %r7, %f3; atom.global.cas.b32 %r6, [%rd3], %r8, %r7;\n"                                    \
          "setp.ne.s32 %p2, %r6, %r8; @%p2 bra turn; ret;"

#define IN_SHARED(made)                                                                      \
    BEGIN "cvt.rn.f32.s32 %f1, %r5; ld.shared.u32 %r6, [tile]; turn: mov.u32 %r8, %r6;" made \
          "atom.shared.cas.b32 %r6, [tile], %r8, %r7; setp.ne.s32 %p2, %r6, %r8; @%p2 bra turn; ret;"

static void loops_that_the_gpu_has_an_atomic_for(void **state) {
    (void)state;
    assert_non_null(strstr(says("native-atomic", RETRY_WITH("add.s32 %r7, %r6, %r5;")), "Use atomicAdd in"));
    assert_non_null(strstr(says("native-atomic", RETRY_WITH("xor.b32 %r7, %r5, %r6;")), "Use atomicAnd, "));
    assert_non_null(
        strstr(says("native-atomic", RETRY_WITH("max.s32 %r7, %r5, %r6;")), "Use atomicMin or atomicMax in"));
    assert_non_null(strstr(says("native-atomic", SUM_OF_REALS("add.f32 %f3, %f2, %f1;")), "Use atomicAdd in"));
    assert_non_null(strstr(says("native-atomic", SUM_OF_REALS("max.f32 %f3, %f2, %f1;")), "of the bits in place"));
    // The word is left alone where it is as large already.
    assert_non_null(strstr(says("native-atomic", BEGIN "ld.global.u32 %r6, [%rd3]; turn: setp.ge.s32 %p3, %r6, %r5;\n"
                                                       "@%p3 bra out; mov.u32 %r8, %r6;\n"
                                                       "atom.global.cas.b32 %r6, [%rd3], %r8, %r5;\n"
                                                       "setp.ne.s32 %p2, %r6, %r8; @%p2 bra turn; out: ret;"),
                           "Use atomicMin or atomicMax in"));
    // There is no product, nor anything of the word alone; a list and a lock have nothing like it.
    assert_string_equal(says("native-atomic", RETRY_WITH("mul.lo.s32 %r7, %r6, %r5;")), "");
    assert_string_equal(says("native-atomic", RETRY_WITH("add.s32 %r7, %r6, %r6;")), "");
    assert_string_equal(says("native-atomic", RETRY_WITH("st.global.u32 [%rd2], %r6; mov.u32 %r7, %r5;")), "");
    assert_string_equal(says("native-atomic", BEGIN TAKE GIVE_BACK), "");
    // Shared memory has no sums of floating point, but others.
    assert_string_equal(says("native-atomic", IN_SHARED("mov.b32 %f2, %r6; add.f32 %f3, %f2, %f1; mov.b32 %r7, %f3;")),
                        "");
    assert_non_null(strstr(says("native-atomic", IN_SHARED("add.s32 %r7, %r6, %r5;")), "Use atomicAdd in"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_the_gpu_has_an_atomic_for),
        cmocka_unit_test(locks_are_told_from_other_exchanges),
        cmocka_unit_test(loops_that_spin_are_no_work),
        cmocka_unit_test(tickets_are_not_added_up),
        cmocka_unit_test(what_a_lock_guards_is_stored),
        cmocka_unit_test(a_lock_is_no_lack_of_ctas),
        cmocka_unit_test(what_the_driver_does_is_no_lack_of_ctas),
        cmocka_unit_test(who_prints_has_no_work_for_others),
        cmocka_unit_test(the_wait_is_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
