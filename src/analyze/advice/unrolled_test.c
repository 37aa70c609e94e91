// SPDX-License-Identifier: Apache-2.0
// What loop-unrolling expects of loops that the compiler has unrolled or not, and of what goes on from turn to turn.
#include "analyze/advice/sampled_testing.h"

static void sample(Sampled *s, const char *body) {
    sample_waits(s, sampled_begin(s, body), 200);
    sampled_end(s);
}

// sum += a[k * 1024]; a turn has `copies` of it and goes on by as many.
#define ONE_LOAD(n) "ld.global.f32 %f1, [%rd3+4096*" #n "]; add.f32 %f2, %f2, %f1;\n"
#define FOUR_LOADS(n) ONE_LOAD(n) ONE_LOAD(n + 1) ONE_LOAD(n + 2) ONE_LOAD(n + 3)
#define SUM_LOOP(loads, copies)                                                                                  \
    BEGIN "mov.u32 %r8, 0; turn:\n" loads "add.s64 %rd3, %rd3, 4096*" copies "; add.s32 %r8, %r8, " copies ";\n" \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

#define SUM_UP_TO(loads, copies)                                                                 \
    BEGIN "add.s64 %rd4, %rd3, 4096*160; turn:\n" loads "add.s64 %rd3, %rd3, 4096*" copies ";\n" \
          "setp.ne.s64 %p2, %rd3, %rd4; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

// Part of the waits for loads that unrolling takes away; 0: not advised.
static f64 unrolled(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "loop-unrolling");
    f64 gone = hit ? samples_gone(hit, STALL_LONG_SCOREBOARD) : 0, all = s.c.stalls[STALL_LONG_SCOREBOARD];
    forget(&s);
    return gone / all;
}

// It turns ten times, so that four turns at once are possible; of the source's loop eight at most: what the compiler
// unrolled by four can gain a half, by sixteen nothing.
static void loops_that_are_unrolled_gain_less(void **state) {
    (void)state;
    assert_float_equal(unrolled(SUM_LOOP(ONE_LOAD(0), "1")), 3.0 / 4, 0.01);
    assert_float_equal(unrolled(SUM_LOOP(FOUR_LOADS(0), "4")), 1.0 / 2, 0.01);
    assert_float_equal(unrolled(SUM_LOOP(FOUR_LOADS(0) FOUR_LOADS(4) FOUR_LOADS(8) FOUR_LOADS(12), "16")), 0, 0);
    // Four loads by turn of a loop that goes on by one, or one of a loop that goes on by four, are no copies.
    assert_float_equal(unrolled(SUM_LOOP(FOUR_LOADS(0), "1")), 1.0 / 2, 0.01);  // eight loads are under way at most
    assert_float_equal(unrolled(SUM_LOOP(ONE_LOAD(0), "4")), 3.0 / 4, 0.01);
    // A pointer may be the counter; then it goes on by bytes.
    assert_float_equal(unrolled(SUM_UP_TO(ONE_LOAD(0), "1")), 7.0 / 8, 0.01);  // of 160 turns
    assert_float_equal(unrolled(SUM_UP_TO(FOUR_LOADS(0), "4")), 1.0 / 2, 0.01);
    assert_float_equal(unrolled(SUM_UP_TO(FOUR_LOADS(0) FOUR_LOADS(4) FOUR_LOADS(8) FOUR_LOADS(12), "16")), 0, 0);
}

// A chain of slow results in each turn, none of which the next turn needs.
#define SLOW_CHAIN                                                                                             \
    BEGIN "mov.u32 %r8, 0; turn:\n" ONE_LOAD(                                                                  \
        0) "sqrt.approx.f32 %f3, %f1; sqrt.approx.f32 %f4, %f3;\n"                                             \
           "sqrt.approx.f32 %f5, %f4; max.f32 %f2, %f2, %f5; add.s64 %rd3, %rd3, 4096; add.s32 %r8, %r8, 1;\n" \
           "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

// The chains of all turns that are one go on side by side: each waits while the instructions of all the others issue.
static void chains_of_turns_hide_each_other(void **state) {
    (void)state;
    Sampled s;
    const KernelView *view = sampled_begin(&s, SLOW_CHAIN);
    sample_waits(&s, view, 200);
    u32 load = 0;
    while (!view->flow.code->insns[load].is_load || view->flow.code->insns[load].space != SPACE_GLOBAL) load++;
    for (u32 pc = load + 2; pc < load + 5; pc++) subject_stall(&s.subject, pc, STALL_SHORT_SCOREBOARD, 3000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "loop-unrolling");
    assert_non_null(hit);
    f64 active = s.c.parts[0].loops[0].active;
    assert_true(hit->change.hidden > 2 * active);
    assert_near(hit->change.scope_active, 3 * active);  // it turns ten times: four at once
    forget(&s);
}

// A loop within, which turns as often as what was loaded says: compilers start no load of the next turn ahead of it.
#define LOOP_WITHIN(test)                                                                               \
    BEGIN "mov.u32 %r8, 0; turn:\n" ONE_LOAD(                                                           \
        0) "cvt.rzi.s32.f32 %r9, %f1;\n"                                                                \
           "within: add.s32 %r9, %r9, -1; add.s32 %r10, %r10, %r9;\n"                                   \
           "setp.gt.s32 %p1, %r9, 0; @%p1 bra within;\n" test                                           \
           "add.s64 %rd3, %rd3, 4096; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn;\n" \
           "out: st.global.u32 [%rd2], %r10; ret;"

// Who loads for all turns that fit first waits once for them, unless what was loaded ends the loop.
static void turns_around_a_loop_load_first(void **state) {
    (void)state;
    assert_float_equal(unrolled(LOOP_WITHIN("")), 3.0 / 4, 0.01);
    assert_float_equal(unrolled(LOOP_WITHIN("setp.gt.f32 %p3, %f1, 0f3F800000; @%p3 bra out;\n")), 0, 0);
    // Where the next load is, the loop within says.
    assert_float_equal(
        unrolled(LOOP_WITHIN("cvt.s64.s32 %rd5, %r10; shl.b64 %rd5, %rd5, 2; add.s64 %rd3, %rd3, %rd5;\n")), 0, 0);
}

// What a turn loads is at a place that `place` makes of the counter, %r8, in bytes from %rd3: %r9.
#define PLACED(place)                                                                          \
    BEGIN "mov.u32 %r8, 0; turn:\n" place "cvt.s64.s32 %rd5, %r9; add.s64 %rd6, %rd3, %rd5;\n" \
          "ld.global.u32 %r10, [%rd6]; add.s32 %r11, %r11, %r10; add.s32 %r8, %r8, 1;\n"       \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.u32 [%rd2], %r11; ret;"

// Where the next turn loads is known before, however it is computed, unless what was loaded says it, or ways that data
// may choose.
static void places_are_known_turns_before(void **state) {
    (void)state;
    assert_float_equal(unrolled(PLACED("shl.b32 %r9, %r8, 12;")), 3.0 / 4, 0.01);
    assert_float_equal(unrolled(PLACED("shr.s32 %r9, %r8, 3; min.s32 %r9, %r9, 77; max.s32 %r9, %r9, %r4;\n"
                                       "shl.b32 %r9, %r9, 12; xor.b32 %r9, %r9, %r4;")),
                       3.0 / 4, 0.01);
    assert_float_equal(unrolled(PLACED("mov.u32 %r9, %laneid; xor.b32 %r9, %r9, %r8; shl.b32 %r9, %r9, 12;")), 3.0 / 4,
                       0.01);
    assert_float_equal(unrolled(PLACED("ld.param.u32 %r9, [p]; xor.b32 %r9, %r9, %r8; shl.b32 %r9, %r9, 12;")), 3.0 / 4,
                       0.01);
    assert_float_equal(unrolled(PLACED("xor.b32 %r9, %r10, %r8;")), 0, 0);
    assert_float_equal(
        unrolled(PLACED("mov.u32 %r9, %r4; setp.lt.s32 %p3, %r11, 5; @%p3 bra way; shl.b32 %r9, %r8, 2;\n"
                        "way:\n")),
        0, 0);
}

// A search: what is loaded says whether there is another turn, so no load of that starts before. A limit that each
// thread has does not.
#define UNTIL(test)                                                      \
    BEGIN "mov.u32 %r8, 0; turn:\n" ONE_LOAD(0) test                     \
        "@%p3 bra out; add.s64 %rd3, %rd3, 4096; add.s32 %r8, %r8, 1;\n" \
        "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; out: st.global.f32 [%rd2], %f2; ret;"

static void searches_wait_for_what_they_find(void **state) {
    (void)state;
    assert_float_equal(unrolled(UNTIL("setp.gt.f32 %p3, %f1, 0f3F800000;")), 0, 0);
    assert_float_equal(unrolled(UNTIL("setp.gt.s32 %p3, %r8, %r4;")), 3.0 / 4, 0.01);
}

// Sums over eight words of shared memory; each turn is `step` bytes farther.
#define SHARED_LOAD(n) "ld.shared.u32 %r1" #n ", [%r9+4*" #n "]; add.s32 %r8, %r8, %r1" #n ";\n"
#define EIGHT_SHARED \
    SHARED_LOAD(0)   \
    SHARED_LOAD(1)   \
    SHARED_LOAD(2) SHARED_LOAD(3) SHARED_LOAD(4) SHARED_LOAD(5) SHARED_LOAD(6) SHARED_LOAD(7)
#define WINDOW(step)                                            \
    BEGIN "mov.u32 %r9, tile; turn:\n" ONE_LOAD(0) EIGHT_SHARED \
        "add.s64 %rd3, %rd3, 4096;\n"                           \
        "add.s32 %r9, %r9, " step "; setp.lt.s32 %p2, %r9, %r5; @%p2 bra turn; st.global.u32 [%rd2], %r8; ret;"

#define STEPPING(step)                                            \
    BEGIN "mov.u32 %r8, 0; turn:\n" ONE_LOAD(                     \
        0) "add.s64 %rd3, %rd3, " step "; add.s32 %r8, %r8, 1;\n" \
           "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

static f64 saved_issues(const Sampled *s, const Hit *hit) {
    (void)s;
    return hit->change.issues;
}

static f64 issues_saved(const char *body) {
    Sampled s;
    sample(&s, body);
    f64 saved = measured_of(&s, "loop-unrolling", saved_issues);
    assert_true(saved > 0);
    return saved;
}

// Counter, comparison and branch are once for all turns that are unrolled, and so is a pointer that goes on by a
// constant; one that goes on by a pitch is not.
static void pointers_go_on_once_for_all_turns(void **state) {
    (void)state;
    assert_float_equal(issues_saved(STEPPING("4096")) / issues_saved(STEPPING("%rd2")), 4.0 / 3, 0.01);
}

// Of eight words seven are those of the turn before: four turns that are one load eleven, not 32.
static void words_of_a_window_are_loaded_once(void **state) {
    (void)state;
    f64 apart = issues_saved(WINDOW("32")), overlapping = issues_saved(WINDOW("4"));
    assert_float_equal(overlapping - apart, 100 * (7 * 3.0 / 4), 1);
}

// A counter of bytes goes on by four here, and there are eight loads alike, but one more that has no copies.
static void a_load_without_copies_says_that_turns_are_single(void **state) {
    (void)state;
    assert_float_equal(unrolled(WINDOW("4")), 3.0 / 4, 0.01);
}

// Compilers make a loop of turns that an argument counts into one of four at once and one for the rest.
#define FOUR_AT_ONCE_AND_REST(end)                                                                       \
    BEGIN "mov.u32 %r8, 0; sub.s32 %r9, " end ", 3; mov.f32 %f2, 0f00000000;\n"                          \
          "many: " FOUR_LOADS(0) "add.s64 %rd3, %rd3, 4096*4; add.s32 %r8, %r8, 4;\n"                    \
                                 "setp.lt.s32 %p1, %r8, %r9; @%p1 bra many;\n"                           \
                                 "rest: " ONE_LOAD(0) "add.s64 %rd3, %rd3, 4096; add.s32 %r8, %r8, 1;\n" \
                                                      "setp.lt.s32 %p2, %r8, " end                       \
                                                      "; @%p2 bra rest; st.global.f32 [%rd2], %f2; ret;"
// ... or, of the loop within another, one of four at once that runs once.
#define WITHIN(end)                                                                   \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f2, 0f00000000;\n"                                \
          "turn: mov.u32 %r7, 0;\n"                                                   \
          "many: " FOUR_LOADS(0) "add.s64 %rd3, %rd3, 4096*4; add.s32 %r7, %r7, 4;\n" \
                                 "setp.lt.s32 %p1, %r7, " end "; @%p1 bra many;\n"    \
                                 "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, " end    \
                                 "; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

// Loops turn `turns` times for each time that they are come to, those within others 1.2 times.
static bool could_be_constant(const char *body, u32 turns) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        u32 loop = view->flow.loops->loop_of[view->flow.cfg->block_of[pc]];
        bool within = loop != WL_NONE && view->flow.loops->loops[loop].parent != WL_NONE;
        s.subject.places[pc].line = 7;
        subject_stall(&s.subject, pc, STALL_SELECTED, loop == WL_NONE ? 100 : within ? 120 * turns : 100 * turns);
    }
    sampled_end(&s);
    bool does = false;
    ask(&s, "loop-unrolling");
    for (u32 i = 0; i < s.c.hits.len; i++) does |= strstr(s.c.hits.data[i]->what, "Make the number of turns") != NULL;
    forget(&s);
    return does;
}

static void few_turns_of_the_launch_can_be_constant(void **state) {
    (void)state;
    assert_true(could_be_constant(FOUR_AT_ONCE_AND_REST("%r5"), 3));
    assert_false(could_be_constant(FOUR_AT_ONCE_AND_REST("%r5"), 9));  // counting is little of many turns
    assert_false(could_be_constant(FOUR_AT_ONCE_AND_REST("%r1"), 3));  // threads differ
    assert_false(could_be_constant(FOUR_AT_ONCE_AND_REST("14"), 3));   // it is one
    assert_true(could_be_constant(WITHIN("%r5"), 3));
    assert_false(could_be_constant(WITHIN("%r1"), 3));
}

// Each turn reads the constant behind that of the turn before, and warps wait for it.
#define CONSTANTS(step, end)                                                                                          \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f2, 0f00000000; turn: ld.const.f32 %f1, [%rd3]; fma.rn.f32 %f2, %f2, %f2, %f1;\n" \
          "add.s64 %rd3, %rd3, " step "; add.s32 %r8, %r8, 1;\n"                                                      \
          "setp.ne.s32 %p2, %r8, " end "; @%p2 bra turn; st.global.f32 [%rd2], %f2; ret;"

static bool is_constant(const CasePart *part, u32 pc) {
    return case_insn(part, pc)->is_load && case_insn(part, pc)->space == SPACE_CONST;
}

// Part of the waits for constants that unrolling takes away.
static f64 constants_waited_for(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    f64 all = 0, gone = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 100);
        if (is_constant(&(CasePart){.view = view}, pc)) subject_stall(&s.subject, pc, STALL_IMC_MISS, 5000);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "loop-unrolling");
    assert_non_null(hit);
    for (u32 i = 0; i < s.c.parts->blame->edge_count; i++)
        if (is_constant(s.c.parts, s.c.parts->blame->edges[i].def)) all += s.c.parts->blame->edges[i].samples;
    for (u32 i = 0; i < hit->spots.len; i++)
        if (is_constant(hit->spots.data[i].part, hit->spots.data[i].def)) gone += hit->spots.data[i].samples;
    forget(&s);
    return gone / all;
}

// A line of 64 bytes is read once for all turns that find theirs in it; where the code has all turns, it has the places
// too, of as many as fit without what counts them.
static void constants_that_turns_index(void **state) {
    (void)state;
    assert_float_equal(constants_waited_for(CONSTANTS("4", "%r5")), 7.0 / 8, 0.01);
    assert_float_equal(constants_waited_for(CONSTANTS("16", "%r5")), 3.0 / 4, 0.01);
    assert_float_equal(constants_waited_for(CONSTANTS("64", "%r5")), 0, 0.01);
    assert_float_equal(constants_waited_for(CONSTANTS("64", "300")), 1, 0.01);
    assert_float_equal(constants_waited_for(CONSTANTS("64", "3000")), 0, 0.01);
}

// Sixteen turns over an array in local memory, at a place that a uniform counter, or the thread, decides.
#define OVER_ARRAY(place)                                                                                              \
    {                                                                                                                  \
        "|S2R|R9,SR_TID.X", "|VIADD|R1,R1,0xffffffc0", "|UMOV|UR4,URZ", "|STL|[R1],R5", "|USHF.L.U32|UR5,UR4,0x2,URZ", \
            "|IADD3|R6,R1," place ",RZ", "|LDL|R7,[R6]", "|IADD3|R8,R8,R7,RZ", "|UIADD3|UR4,UR4,0x1,URZ",              \
            "|UISETP.NE.AND|UP0,UPT,UR4,0x10,UPT", "|PLOP3.LUT|P0,PT,PT,PT,UP0,0x80,0x0", "@P0|BRA|0x40",              \
            "|STG.E|desc[UR6][R2.64],R8", "|EXIT|", NULL                                                               \
    }

static f64 saved_over_array(const char *const *lines) {
    static const u32 issued[] = {10, 10, 10, 10, 100, 100, 100, 100, 100, 100, 100, 100, 10, 10};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    assert_int_equal(m.s.c.parts[0].view->flow.loops->loops[0].trip_count, 16);
    const Hit *hit = ask(&m.s, "loop-unrolling");
    assert_non_null(hit);
    f64 saved = hit->change.issues;
    machine_end(&m);
    return saved;
}

// One sequence has the array's elements in registers: of a turn the sum is left, and nothing is stored before it.
static void turns_over_an_array_need_no_local_memory(void **state) {
    (void)state;
    static const char *const by_turn[] = OVER_ARRAY("UR5"), *const by_thread[] = OVER_ARRAY("R9");
    assert_float_equal(saved_over_array(by_turn), 7 * 100 + 10, 1e-6);
    assert_true(saved_over_array(by_thread) < 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants_that_turns_index),
                                       cmocka_unit_test(few_turns_of_the_launch_can_be_constant),
                                       cmocka_unit_test(loops_that_are_unrolled_gain_less),
                                       cmocka_unit_test(places_are_known_turns_before),
                                       cmocka_unit_test(searches_wait_for_what_they_find),
                                       cmocka_unit_test(chains_of_turns_hide_each_other),
                                       cmocka_unit_test(turns_around_a_loop_load_first),
                                       cmocka_unit_test(turns_over_an_array_need_no_local_memory),
                                       cmocka_unit_test(words_of_a_window_are_loaded_once),
                                       cmocka_unit_test(a_load_without_copies_says_that_turns_are_single),
                                       cmocka_unit_test(pointers_go_on_once_for_all_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
