// SPDX-License-Identifier: Apache-2.0
// What is there all the time and what comes ahead: CTAs that are resident from the begin, words and tiles of the next
// turns.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

// --- CTAs that all fit at once ---------------------------------------------------------------------------------------
enum { CYCLES = 100000, SMS = 100, CTAS_OF_SM = 8, WARPS_OF_CTA = 4, ALL = SMS * CTAS_OF_SM };

static const GpuModel gpu = {.sms = SMS, .warp_schedulers = 4, .clock_mhz = 1000};

// Turns that end where `end` says: at the thread's number, the CTA's, or one that all have.
#define TURNS_TO(end)                                                                       \
    BEGIN "mov.f32 %f1, 0f00000000; mov.u32 %r8, 0; turn: fma.rn.f32 %f1, %f1, %f1, %f1;\n" \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, " end "; @%p2 bra turn; st.global.f32 [%rd3], %f1; ret;"

// So many CTAs of four warps; `in_line`: of 100 samples, those of warps in line for the scheduler; of the SMs' time
// samples are there for a part.
static void sample(Sampled *s, const char *body, u32 ctas, u32 in_line, f64 part) {
    KernelView *view = sampled_begin(s, body);
    s->launch.grid[0] = ctas;
    view->gpu = &gpu;
    view->launches.total_ns = CYCLES;
    view->occupancy.ctas_per_sm = CTAS_OF_SM;
    view->occupancy.warps_per_cta = WARPS_OF_CTA;
    view->occupancy.warps_per_sm = CTAS_OF_SM * WARPS_OF_CTA;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        u32 times = view->flow.loops->loop_of[view->flow.cfg->block_of[pc]] == WL_NONE ? 1 : 10;
        subject_stall(&s->subject, pc, STALL_SELECTED, 20 * times);
        subject_stall(&s->subject, pc, STALL_NOT_SELECTED, in_line * times);
        subject_stall(&s->subject, pc, STALL_WAIT, (80 - in_line) * times);
    }
    view->total_latency = view->total / 2;
    view->period = (u64)(part * CYCLES * SMS / (f64)view->total);
    sampled_end(s);
}

static bool asks_for_equal_sms(u32 ctas, u32 in_line) {
    Sampled s;
    sample(&s, TURNS_TO("%r2"), ctas, in_line, 0.5);
    bool asks = ask(&s, "sm-balance") != NULL;
    forget(&s);
    return asks;
}

// Half of the samples are missing: where CTAs follow CTAs and warps are in line, they were lost; where all CTAs are
// resident from the begin, SMs have none left.
static void samples_of_resident_ctas_are_not_lost(void **state) {
    (void)state;
    assert_true(asks_for_equal_sms(ALL, 50));
    assert_false(asks_for_equal_sms(3 * ALL, 50));
    assert_true(asks_for_equal_sms(3 * ALL, 30));  // too short a line to lose them
}

// How much longer than the average SM's the launch is after its CTAs have been dealt pieces in turn, over that, where
// SMs have CTAs for `part` of the time.
static f64 left_by_chance(u32 in_line, f64 part) {
    Sampled s;
    sample(&s, TURNS_TO("%r2"), ALL, in_line, part);
    const Hit *hit = ask(&s, "sm-balance");
    assert_non_null(hit);
    f64 left = hit->change.work / part - 1;
    forget(&s);
    return left;
}

// Work that grows evenly from CTA to CTA, the longest of which takes twice the average, becomes even; of single long
// pieces, 948 of each of 800 CTAs and up to 17 times as long as the average, some CTAs have more by chance.
static void long_pieces_are_not_dealt_evenly(void **state) {
    (void)state;
    f64 longest = 1 / 0.2 * 3.368, deviation = sqrt((longest - 1) / (longest + 1));  // 3.4 times the warps are missing
    assert_true(fabs(left_by_chance(50, 0.5)) < 0.002);
    assert_float_equal(left_by_chance(0, 0.2), (1 - 2 / longest) * deviation * sqrt(2 * log(ALL) / 948), 0.003);
}

// The time of a CTA's warps if they were equal, over that of the longest; 1: nothing is advised.
static f64 equal_warps(const char *body, u32 ctas, f64 part) {
    Sampled s;
    sample(&s, body, ctas, 0, part);
    const Hit *hit = ask(&s, "warp-balance");
    f64 work = hit ? hit->change.work : 1;
    assert_true(!hit || strstr(hit->what, "Give the warps of a CTA equal work"));
    if (hit) assert_near(work, s.c.warps * (f64)gpu.warp_schedulers / (ctas / SMS * WARPS_OF_CTA));
    forget(&s);
    return work;
}

// Of 32 warps with which an SM begins fewer are there on average: they have ended before others of their CTAs, where
// their turns may differ and no SM has run out of all.
static void warps_end_before_others_of_their_cta(void **state) {
    (void)state;
    f64 equal = equal_warps(TURNS_TO("%r1"), ALL, 1);
    assert_near(equal, 0.95 * 0.5 * 5 * 4 / 32);                    // rate of issue times samples of an issue
    assert_true(equal_warps(TURNS_TO("%r1"), ALL / 2, 1) > equal);  // of 16 warps
    assert_near(equal_warps(TURNS_TO("%r5"), ALL, 1), 1);           // all turn as often
    assert_near(equal_warps(TURNS_TO("%r1"), ALL, 0.5), 1);         // of SMs without work that is no wonder
    assert_near(equal_warps(TURNS_TO("%r1"), 3 * ALL, 1), 1);       // CTAs follow CTAs
}

// --- tiles -----------------------------------------------------------------------------------------------------------
// Each turn fills a tile from rows of 16 words, a thread's words one after the other from `start` (%r8) on, and uses it
// between two barriers. What a turn has loaded before is %r13.
#define TILES(start)                                                                              \
    BEGIN "mov.u32 %r7, tile; mov.u32 %r6, 0; mov.u32 %r12, 0;\n"                                 \
          "turn: ld.global.u32 %r13, [%rd3]; add.s32 %r12, %r12, %r13;\n" start                   \
          "copy: shr.u32 %r9, %r8, 4; and.b32 %r10, %r8, 15; mad.lo.s32 %r9, %r9, %r5, %r10;\n"   \
          "mad.lo.s32 %r9, %r6, %r3, %r9; mul.wide.s32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "shl.b32 %r14, %r8, 2; add.s32 %r14, %r14, %r7;\n"                                      \
          "ld.global.u32 %r11, [%rd5]; st.shared.u32 [%r14], %r11;\n"                             \
          "add.s32 %r8, %r8, 128; setp.lt.s32 %p2, %r8, %r5; @%p2 bra copy;\n"                    \
          "bar.sync 0; ld.shared.u32 %r15, [%r7]; add.s32 %r12, %r12, %r15; bar.sync 0;\n"        \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra turn; st.global.u32 [%rd1], %r12; ret;"

static bool copies_tile(const char *body) {
    Sampled s;
    sample_waits(&s, sampled_begin(&s, body), 1000);
    sampled_end(&s);
    bool does = ask(&s, "async-copy") != NULL;
    forget(&s);
    return does;
}

// A tile that a loop within the turn copies is known a turn ahead.
static void tiles_that_loops_copy_are_known_ahead(void **state) {
    (void)state;
    assert_true(copies_tile(TILES("mov.u32 %r8, %r1;\n")));
    assert_false(copies_tile(TILES("add.s32 %r8, %r1, %r13;\n")));  // from where the turn's data says
}

// So is one of which a test has chosen where it begins, if the test is known ahead: a step that some go, either of two
// ways, or a step that two tests keep from.
#define BY_TURN "setp.lt.s32 %p3, %r6, 5;"
#define BY_DATA "setp.lt.s32 %p3, %r13, 5;"
#define STEP(test)                                                             \
    TILES("mov.u32 %r8, %r1; " test " @%p3 bra begin; add.s32 %r8, %r8, 64;\n" \
          "begin: add.s32 %r8, %r8, 1;\n")
#define TWO_WAYS(test)                                                                         \
    TILES(test " @%p3 bra other; mov.u32 %r8, %r1; bra begin; other: sub.s32 %r8, 127, %r1;\n" \
               "begin: add.s32 %r8, %r8, 1;\n")
// Data may choose where ways meet at once, or behind another test; and how far a search goes that leaves the begin.
#define AT_THE_LOOP(test) TILES("mov.u32 %r8, %r1; " test " @%p3 bra copy; add.s32 %r8, %r8, 64;\n")
#define BEHIND_A_TEST(other)                                                                                      \
    TILES("mov.u32 %r8, %r1; " BY_TURN " @%p3 bra begin; " other " @%p4 bra small; mov.u32 %r8, 64; bra begin;\n" \
          "small: mov.u32 %r8, 32; begin: add.s32 %r8, %r8, 1;\n")
#define SEARCH                                                                             \
    TILES("mov.u32 %r8, %r1; find: mul.wide.s32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6;\n" \
          "ld.global.u32 %r16, [%rd7]; add.s32 %r8, %r8, 1; setp.gt.s32 %p3, %r16, 5; @%p3 bra find;\n")
#define COUNT                                                                         \
    TILES("mov.u32 %r8, %r1; find: add.s32 %r8, %r8, 1; setp.lt.s32 %p3, %r8, %r6;\n" \
          "@%p3 bra find;\n")
#define EITHER_TEST(other)                                                            \
    TILES("mov.u32 %r8, %r1; " BY_TURN " @%p3 bra begin; " other " @%p4 bra begin;\n" \
          "add.s32 %r8, %r8, 64; begin: add.s32 %r8, %r8, 1;\n")

static void tiles_begin_where_known_tests_say(void **state) {
    (void)state;
    assert_true(copies_tile(STEP(BY_TURN)));
    assert_true(copies_tile(TWO_WAYS(BY_TURN)));
    assert_true(copies_tile(EITHER_TEST("setp.gt.s32 %p4, %r6, 9;")));
    assert_false(copies_tile(STEP(BY_DATA)));
    assert_false(copies_tile(TWO_WAYS(BY_DATA)));
    assert_false(copies_tile(EITHER_TEST("setp.gt.s32 %p4, %r13, 9;")));
    assert_true(copies_tile(AT_THE_LOOP(BY_TURN)));
    assert_false(copies_tile(AT_THE_LOOP(BY_DATA)));
    assert_true(copies_tile(BEHIND_A_TEST("setp.gt.s32 %p4, %r6, 9;")));
    assert_false(copies_tile(BEHIND_A_TEST("setp.gt.s32 %p4, %r13, 9;")));
    assert_true(copies_tile(COUNT));
    assert_false(copies_tile(SEARCH));
}

// --- sliding windows -------------------------------------------------------------------------------------------------
// Sums over four words of shared memory, whose place `begin` (%r9) says; each turn is `step` bytes farther.
#define WORD(n) "ld.shared.u32 %r1" #n ", [%r9+4*" #n "]; add.s32 %r8, %r8, %r1" #n ";\n"
#define WINDOW(begin, step)                                                                                     \
    BEGIN "mov.u32 %r6, 0; mov.u32 %r8, 0; " begin "\n"                                                         \
          "turn: ld.global.u32 %r7, [%rd3]; add.s32 %r8, %r8, %r7; add.s64 %rd3, %rd3, 4096;\n" WORD(0) WORD(1) \
              WORD(2) WORD(3) "add.s32 %r9, %r9, " step "; add.s32 %r6, %r6, 1;\n"                              \
                              "setp.lt.s32 %p2, %r6, %r5; @%p2 bra turn; st.global.u32 [%rd2], %r8; ret;"

static f64 issues_saved(const char *body) {
    Sampled s;
    sample_waits(&s, sampled_begin(&s, body), 200);
    sampled_end(&s);
    const CaseAccess *a = &s.c.parts[0].accesses[1];
    assert_true(access_is_shared(a) && a->affine->base == WL_NONE);
    const Hit *hit = ask(&s, "loop-unrolling");
    assert_non_null(hit);
    f64 saved = hit->change.issues;
    forget(&s);
    return saved;
}

// Three of four words are those of the turn before, in whatever array of shared memory they are: of four turns that are
// one, three quarters of their loads go.
static void words_of_a_window_need_no_variable(void **state) {
    (void)state;
    f64 apart = issues_saved(WINDOW("shl.b32 %r9, %r1, 2;", "16")),
        overlapping = issues_saved(WINDOW("shl.b32 %r9, %r1, 2;", "4"));
    assert_float_equal(overlapping - apart, 100 * (3 * 3.0 / 4), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_pieces_are_not_dealt_evenly),

        cmocka_unit_test(samples_of_resident_ctas_are_not_lost), cmocka_unit_test(warps_end_before_others_of_their_cta),
        cmocka_unit_test(tiles_that_loops_copy_are_known_ahead), cmocka_unit_test(tiles_begin_where_known_tests_say),
        cmocka_unit_test(words_of_a_window_need_no_variable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
