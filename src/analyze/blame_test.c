// SPDX-License-Identifier: Apache-2.0
// The instruction blamer on small kernels of which it is plain what each instruction waited for.
#include "analyze/analyze_testing.h"

#include <math.h>

static Subject subject;
#define LONG STALL_LONG_SCOREBOARD
#define SHORT STALL_SHORT_SCOREBOARD

// One stall of 100 samples; what of it is blamed on `def`.
static f64 blamed_of_100(const char *body, u32 use, StallReason reason, u32 def, const BlameOptions *options) {
    subject_ptx(&subject, body);
    subject_stall(&subject, use, reason, 100);
    subject_blame(&subject, options);
    f64 blamed = subject_blamed(&subject, use, reason, def);
    subject_free(&subject);
    return blamed;
}

// --- slices ----------------------------------------------------------------------------------------------------------
TEST(the_load_of_a_register_is_blamed) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "mul.lo.u32 %r2, %r3, %r3;\n"
                          "add.u32 %r4, %r1, %r2;\n"
                          "ret;");
    subject_stall(&subject, 2, LONG, 80);
    subject_stall(&subject, 2, STALL_WAIT, 20);
    subject_blame(&subject, NULL);
    assert_int_equal(subject.blame->edge_count, 2);
    const BlameEdge *memory = subject_edge(&subject, 2, LONG, 0),
                    *arithmetic = subject_edge(&subject, 2, STALL_WAIT, 1);
    assert_true(memory && memory->samples == 80 && memory->latency_samples == 40 && memory->class == BLAME_GLOBAL);
    assert_true(memory->distance == 2 && !memory->same_loop);
    assert_true(arithmetic && arithmetic->samples == 20 && arithmetic->class == BLAME_ARITHMETIC);
    assert_true(arithmetic->distance == 1);
    assert_true(subject.blame->unattributed == 0);
    subject_free(&subject);
}

// GPA, figure 5, and finer.
TEST(classes_are_of_what_was_waited_for) {
    static const struct {
        const char *def;
        StallReason reason;
        BlameClass class;
    } cases[] = {
        {"ld.global.u32 %r1, [%rd1];", LONG, BLAME_GLOBAL},
        {"ld.local.u32 %r1, [%rd1];", LONG, BLAME_LOCAL},
        {"ld.shared.u32 %r1, [%rd1];", SHORT, BLAME_SHARED},
        {"ld.const.u32 %r1, [table];", SHORT, BLAME_CONSTANT},
        {"atom.global.add.u32 %r1, [%rd1], 1;", LONG, BLAME_ATOMIC},
        {"atom.shared.add.u32 %r1, [%rd1], 1;", SHORT, BLAME_ATOMIC},
        {"mul.lo.u32 %r1, %r2, %r2;", STALL_WAIT, BLAME_ARITHMETIC},
        {"cvt.rzi.u32.f32 %r1, %f1;", SHORT, BLAME_SPECIAL},
        {"mov.u32 %r1, %tid.x;", SHORT, BLAME_SREG},
        {"shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", SHORT, BLAME_SHUFFLE},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char body[128];
        snprintf(body, sizeof body, "%s\nadd.u32 %%r4, %%r1, 1;\nret;", cases[i].def);
        subject_ptx(&subject, body);
        subject_stall(&subject, 1, cases[i].reason, 10);
        subject_blame(&subject, NULL);
        const BlameEdge *edge = subject_edge(&subject, 1, cases[i].reason, 0);
        if (!edge || edge->class != cases[i].class) fail_msg("%s", cases[i].def);
        subject_free(&subject);
    }
}

// What is under another name is not the machine's: the load behind the copy is waited for, not the copy.
TEST(dropped_copies_are_looked_through) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "mov.u32 %r2, %r1;\n"
                       "add.u32 %r3, %r2, 1;\n"
                       "ret;";
    subject_ptx(&subject, body);
    subject_drop(&subject, 1);
    subject_stall(&subject, 2, LONG, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 2, LONG, 0), 100);
    subject_free(&subject);
    // Without counts a plain copy of a register is taken for dropped, too.
    subject_ptx(&subject, body);
    subject.view.executed = subject.view.issued = NULL;
    subject_stall(&subject, 2, LONG, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 2, LONG, 0), 100);
    subject_free(&subject);
}

// The order of the machine, where it is known, decides what is near.
TEST(distances_are_those_of_the_machines_order) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "ld.global.u32 %r2, [%rd2];\n"
                          "add.u32 %r3, %r3, 1;\n"
                          "add.u32 %r4, %r1, %r2;\n"
                          "ret;");
    const f64 place[] = {2, 0, 1, 3, 4};  // the first load stands behind all but its user
    subject.view.place = place;
    subject_stall(&subject, 3, LONG, 100);
    subject_blame(&subject, NULL);
    assert_int_equal(subject_edge(&subject, 3, LONG, 0)->distance, 1);
    assert_int_equal(subject_edge(&subject, 3, LONG, 1)->distance, 3);
    assert_true(subject_blamed(&subject, 3, LONG, 0) > 60);
    subject_free(&subject);
}

// Four neighbouring words become one load: the one that is left is waited for.
TEST(merged_loads_are_the_wide_one) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "ld.global.u32 %r2, [%rd1+4];\n"
                          "add.u32 %r3, %r2, 1;\n"
                          "ret;");
    subject_drop(&subject, 1);
    subject_stall(&subject, 2, LONG, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 2, LONG, 0), 100);
    subject_free(&subject);
}

// GPA, figure 4: neither of the guarded loads covers the use, both together do.
TEST(predicates_are_followed_until_they_cover) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "@%p1 ld.global.u32 %r1, [%rd2];\n"
                       "@!%p1 ld.global.u32 %r1, [%rd3];\n"
                       "add.u32 %r4, %r1, 1;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 3, LONG, 0, NULL), 0);
    f64 sum = blamed_of_100(body, 3, LONG, 1, NULL) + blamed_of_100(body, 3, LONG, 2, NULL);
    assert_near(sum, 100);
    assert_true(blamed_of_100(body, 3, LONG, 1, NULL) > 1);
}

TEST(one_predicate_does_not_cover) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "@%p1 ld.global.u32 %r1, [%rd2];\n"
                       "add.u32 %r4, %r1, 1;\n"
                       "ret;";
    assert_true(blamed_of_100(body, 2, LONG, 0, NULL) > 1);
    assert_true(blamed_of_100(body, 2, LONG, 1, NULL) > 1);
}

TEST(the_guard_of_the_use_covers) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "@%p1 ld.global.u32 %r1, [%rd2];\n"
                       "@%p1 add.u32 %r4, %r1, 1;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 2, LONG, 0, NULL), 0);
    assert_near(blamed_of_100(body, 2, LONG, 1, NULL), 100);
}

// %p1 of the two loads is not the same predicate any more.
TEST(a_predicate_that_was_set_anew_does_not_cover) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "@%p1 ld.global.u32 %r1, [%rd2];\n"
                       "setp.eq.u32 %p1, %r2, 0;\n"
                       "@!%p1 ld.global.u32 %r1, [%rd3];\n"
                       "add.u32 %r4, %r1, 1;\n"
                       "ret;";
    assert_true(blamed_of_100(body, 4, LONG, 0, NULL) > 1);
    assert_near(blamed_of_100(body, 4, LONG, 2, NULL), 0);
}

TEST(the_guard_itself_is_waited_for) {
    const char *body = "setp.eq.u32 %p1, %r2, 0;\n"
                       "@%p1 add.u32 %r4, %r1, 1;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 1, STALL_WAIT, 0, NULL), 100);
}

// --- pruning
// -----------------------------------------------------------------------------------------------------------
TEST(only_what_has_the_stall_of_its_name_is_blamed) {
    static const BlameOptions off = {.no_opcode_pruning = true, .published = true};
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "mul.lo.u32 %r2, %r3, %r3;\n"
                       "add.u32 %r4, %r1, %r2;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 2, LONG, 1, NULL), 0);
    assert_near(blamed_of_100(body, 2, LONG, 1, &off), 100.0 * 2 / 3);  // at half the distance
}

// The load of %r1 was waited for at 2 already: at 3 it can only be that of %r2.
TEST(what_was_waited_for_before_is_not_blamed_again) {
    static const BlameOptions off = {.no_dominator_pruning = true, .published = true};
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "ld.global.u32 %r2, [%rd2];\n"
                       "add.u32 %r3, %r1, 1;\n"
                       "add.u32 %r4, %r1, %r2;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 3, LONG, 1, NULL), 100);
    assert_near(blamed_of_100(body, 3, LONG, 0, &off), 100.0 * 2 / 5);  // 1/3 against 1/2
}

TEST(a_reader_under_a_guard_or_on_one_way_only_does_not_prune) {
    static const BlameOptions published = {.published = true};
    assert_near(blamed_of_100("ld.global.u32 %r1, [%rd1];\n"
                              "ld.global.u32 %r2, [%rd2];\n"
                              "@%p1 add.u32 %r3, %r1, 1;\n"
                              "add.u32 %r4, %r1, %r2;\n"
                              "ret;",
                              3, LONG, 0, &published),
                40);
    const char *branchy = "ld.global.u32 %r1, [%rd1];\n"
                          "ld.global.u32 %r2, [%rd2];\n"
                          "@%p1 bra SKIP;\n"
                          "add.u32 %r3, %r1, 1;\n"
                          "SKIP: add.u32 %r4, %r1, %r2;\n"
                          "ret;";
    assert_near(blamed_of_100(branchy, 4, LONG, 0, &published), 100 * (1 / 4.0) / (1 / 4.0 + 1 / 3.0));
}

// A reader in the block above, which every way passes.
TEST(a_reader_in_a_dominating_block_prunes) {
    const char *body = "ld.global.u32 %r1, [%rd1];\n"
                       "ld.global.u32 %r2, [%rd2];\n"
                       "add.u32 %r3, %r1, 1;\n"
                       "@%p1 bra SKIP;\n"
                       "add.u32 %r5, %r5, 1;\n"
                       "SKIP: add.u32 %r4, %r1, %r2;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 5, LONG, 1, NULL), 100);
}

TEST(what_is_further_away_than_its_latency_is_not_blamed) {
    static const BlameOptions off = {.no_latency_pruning = true, .published = true};
    const char *body = "mul.lo.u32 %r1, %r9, %r9;\n"
                       "add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 1; add.u32 %r12, %r12, 1; add.u32 %r13, %r13, 1;\n"
                       "add.u32 %r14, %r14, 1; add.u32 %r15, %r15, 1; add.u32 %r16, %r16, 1; add.u32 %r17, %r17, 1;\n"
                       "mul.lo.u32 %r2, %r9, %r8;\n"  // 9
                       "add.u32 %r3, %r1, %r2;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 10, STALL_WAIT, 9, NULL), 100);
    assert_near(blamed_of_100(body, 10, STALL_WAIT, 0, &off), 100 * 0.1 / 1.1);
}

// The samples have a cause, so a rule that would leave none was wrong.
TEST(a_rule_that_leaves_nothing_does_not_apply) {
    assert_near(blamed_of_100("mul.lo.u32 %r1, %r9, %r9;\n"
                              "add.u32 %r2, %r1, 1;\n"
                              "ret;",
                              1, LONG, 0, NULL),
                100);
}

// --- shares
// ------------------------------------------------------------------------------------------------------------
#define TWO_WAYS                         \
    "@%p1 bra ELSE;\n"                   \
    "ld.global.u32 %r1, [%rd1];\n"       \
    "bra JOIN;\n"                        \
    "ELSE: ld.global.u32 %r1, [%rd2];\n" \
    "add.u32 %r10, %r10, 1;\n"           \
    "add.u32 %r11, %r11, 1;\n"           \
    "JOIN: add.u32 %r4, %r1, 1;\n"       \
    "ret;"

// Equation 1: the load of one way was issued three times as often (300 against 100), at two thirds of the distance.
TEST(alternatives_are_weighed_by_issues_and_length) {
    static const BlameOptions flat = {.no_issue_weights = true, .no_path_weights = true},
                              lengths = {.no_issue_weights = true}, issues = {.no_path_weights = true};
    static const struct {
        const BlameOptions *options;
        f64 first, second;  // weights
    } cases[] = {{NULL, 300 / 2.0, 100 / 3.0}, {&flat, 1, 1}, {&lengths, 1 / 2.0, 1 / 3.0}, {&issues, 300, 100}};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        subject_ptx(&subject, TWO_WAYS);
        for (u32 pc = 1; pc < 3; pc++) subject_run(&subject, pc, 300);
        for (u32 pc = 3; pc < 6; pc++) subject_run(&subject, pc, 100);
        subject_stall(&subject, 6, LONG, 100);
        subject_blame(&subject, cases[i].options);
        assert_near(subject_blamed(&subject, 6, LONG, 1), 100 * cases[i].first / (cases[i].first + cases[i].second));
        assert_near(subject_edge(&subject, 6, LONG, 3)->distance, 3);
        subject_free(&subject);
    }
}

// With samples alone, those in which instructions issued say how often they did: all of a block as often.
TEST(issue_counts_come_from_samples_where_nothing_was_counted) {
    subject_ptx(&subject, TWO_WAYS);
    subject.view.executed = subject.view.issued = NULL;
    subject_stall(&subject, 1, STALL_SELECTED, 20);
    subject_stall(&subject, 2, STALL_SELECTED, 40);
    subject_stall(&subject, 4, STALL_SELECTED, 30);
    subject_stall(&subject, 6, LONG, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 6, LONG, 1), 100 * (30 / 2.0) / (30 / 2.0 + 10 / 3.0));
    subject_free(&subject);
}

// A way that was never gone has no part in it.
TEST(what_was_not_executed_is_not_blamed) {
    subject_ptx(&subject, TWO_WAYS);
    for (u32 pc = 1; pc < 3; pc++) subject_run(&subject, pc, 0);
    subject_stall(&subject, 6, LONG, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 6, LONG, 3), 100);
    subject_free(&subject);
}

// Sources of different operands are all waited for: the one that is there last.
TEST(of_two_operands_the_later_one_is_blamed) {
    static const BlameOptions off = {.no_last_source = true};
    const char *body = "ld.shared.u32 %r1, [%rd1];\n"
                       "shfl.sync.bfly.b32 %r2, %r9, 1, 31, -1;\n"
                       "mul.lo.u32 %r10, %r10, %r10;\n"
                       "mul.lo.u32 %r11, %r11, %r11;\n"
                       "ex2.approx.f32 %f2, %f3;\n"
                       "fma.rn.f32 %f4, %f2, %f1, %f1;\n"
                       "add.u32 %r4, %r1, %r2;\n"
                       "ret;";
    f64 later = blamed_of_100(body, 6, SHORT, 1, NULL), alike = blamed_of_100(body, 6, SHORT, 1, &off);
    assert_true(later > 60);
    assert_near(alike, 100 * (1 / 5.0) / (1 / 5.0 + 1 / 6.0));
}

// Three steps of an instruction: two waits for the step before, one for the source.
TEST(an_instruction_of_several_steps_waits_for_itself) {
    static const BlameOptions off = {.no_own_steps = true};
    for (u32 i = 0; i < 2; i++) {
        subject_ptx(&subject, "add.u32 %r1, %r9, 1;\n"
                              "mul.lo.u32 %r2, %r1, %r1;\n"
                              "ret;");
        subject.issued[1] = 3;
        subject_stall(&subject, 1, STALL_WAIT, 90);
        subject_stall(&subject, 1, LONG, 9);  // not a reason to wait for a product
        subject_blame(&subject, i ? &off : NULL);
        assert_near(subject_blamed(&subject, 1, STALL_WAIT, 1), i ? 0 : 60);
        assert_near(subject_blamed(&subject, 1, STALL_WAIT, 0), i ? 90 : 30);
        assert_near(subject_blamed(&subject, 1, LONG, 0), 9);
        subject_free(&subject);
    }
}

// A sum of an address and a parameter that lies in constant memory: it loads that itself, and waits for it.
TEST(what_no_source_is_waited_for_is_a_step_of_its_own) {
    subject_ptx(&subject, "ld.param.u64 %rd1, [p];\n"
                          "mul.wide.u32 %rd2, %r1, 4;\n"
                          "add.s64 %rd3, %rd1, %rd2;\n"
                          "add.s64 %rd4, %rd2, %rd2;\n"
                          "ret;");
    subject_drop(&subject, 0);
    subject.issued[2] = 2;
    subject_stall(&subject, 2, SHORT, 100);
    subject_stall(&subject, 3, SHORT, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 2, SHORT, 2), 100);
    assert_near(subject_blamed(&subject, 3, SHORT, 1), 100);  // of one step: the rule would leave nothing
    subject_free(&subject);
}

// A branch is issued in steps that do not wait for each other, but for its predicate.
TEST(a_branch_does_not_wait_for_its_own_steps) {
    subject_ptx(&subject, "setp.lt.u32 %p1, %r1, 100;\n"
                          "@%p1 bra NEXT;\n"
                          "add.u32 %r2, %r2, 1;\n"
                          "NEXT: ret;");
    subject.issued[1] = 3;
    subject_stall(&subject, 1, STALL_WAIT, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 1, STALL_WAIT, 0), 100);
    subject_free(&subject);
}

// A branch without an instruction of the machine has become a predicate of what it leads to: that waits for it.
TEST(the_predicate_of_a_side_is_waited_for) {
    for (u32 dropped = 0; dropped < 2; dropped++) {
        subject_ptx(&subject, "add.u32 %r3, %r3, 1;\n"
                              "setp.lt.u32 %p1, %r1, 100;\n"
                              "@%p1 bra NEXT;\n"
                              "mul.lo.u32 %r2, %r3, %r3;\n"
                              "NEXT: ret;");
        if (dropped) subject_drop(&subject, 2);
        const f64 place[] = {0, 1, 2, 2, 3};
        subject.view.place = place;
        subject_stall(&subject, 3, STALL_WAIT, 100);
        subject_blame(&subject, NULL);
        assert_true(dropped ? subject_blamed(&subject, 3, STALL_WAIT, 1) > 60
                            : subject_blamed(&subject, 3, STALL_WAIT, 0) > 99);
        subject_free(&subject);
    }
}

// Who waited first is told by the machine's order, which is not that of the text.
TEST(the_first_reader_is_that_of_the_machine) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "add.u32 %r2, %r1, 1;\n"
                          "ld.global.u32 %r4, [%rd2];\n"
                          "add.u32 %r3, %r1, %r4;\n"
                          "ret;");
    const f64 place[] = {1, 3, 0, 2, 4};
    subject.view.place = place;
    subject_stall(&subject, 3, LONG, 100);
    subject_blame(&subject, NULL);
    assert_true(subject_blamed(&subject, 3, LONG, 0) > 50);
    subject_free(&subject);
}

// Each turn waits for its own load; for the one ahead of the loop the first turn alone.
TEST(what_lies_ahead_of_a_loop_is_waited_for_once) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "LOOP: ld.global.u32 %r2, [%rd2];\n"
                          "add.u32 %r3, %r1, %r2;\n"
                          "setp.lt.u32 %p1, %r3, 100;\n"
                          "@%p1 bra LOOP;\n"
                          "ret;");
    for (u32 pc = 1; pc < 5; pc++) subject_run(&subject, pc, 1000);
    subject_stall(&subject, 2, LONG, 100);
    subject_blame(&subject, NULL);
    assert_true(subject_blamed(&subject, 2, LONG, 1) > 99);
    subject_free(&subject);
}

// --- coverage, and what has no source
// ------------------------------------------------------------------------------------
TEST(coverage_counts_sources_before_and_after_pruning) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "mul.lo.u32 %r2, %r3, %r3;\n"
                          "add.u32 %r4, %r1, %r2;\n"  // two before, one after
                          "add.u32 %r5, %r4, 1;\n"    // one and one
                          "ld.global.u32 %r6, [%rd1+64];\n"
                          "ld.global.u32 %r7, [%rd2+64];\n"
                          "add.u32 %r8, %r6, %r7;\n"  // two and two
                          "ret;");
    subject_stall(&subject, 2, LONG, 10);
    subject_stall(&subject, 3, STALL_WAIT, 10);
    subject_stall(&subject, 6, LONG, 10);
    subject_stall(&subject, 6, STALL_NO_INSTRUCTIONS, 10);  // no dependency
    subject_blame(&subject, NULL);
    const BlameCoverage *c = &subject.blame->coverage;
    assert_true(c->nodes == 3 && c->single_before == 1 && c->single_after == 2);
    assert_true(c->edges_before == 5 && c->edges_after == 4);
    subject_free(&subject);
}

TEST(stalls_without_a_source_stay_where_they_are) {
    subject_ptx(&subject, "add.u32 %r4, %r1, 1;\n"
                          "ret;");
    subject_stall(&subject, 0, LONG, 30);
    subject_blame(&subject, NULL);
    assert_true(subject.blame->unattributed == 30);
    assert_near(subject_blamed(&subject, 0, LONG, 0), 30);
    subject_free(&subject);
}

// Full queues, fetches, and whatever else has nothing before it that made it.
TEST(other_stalls_are_the_instructions_own) {
    static const StallReason own[] = {STALL_NO_INSTRUCTIONS, STALL_LG_THROTTLE,  STALL_MIO_THROTTLE,
                                      STALL_TEX_THROTTLE,    STALL_NOT_SELECTED, STALL_MATH_PIPE_THROTTLE,
                                      STALL_SLEEPING,        STALL_DISPATCH,     STALL_MISC};
    static const u8 classes[] = {BLAME_FETCH,    BLAME_THROTTLE, BLAME_THROTTLE, BLAME_THROTTLE, BLAME_NOT_SELECTED,
                                 BLAME_THROTTLE, BLAME_OTHER,    BLAME_OTHER,    BLAME_OTHER};
    for (u32 i = 0; i < WL_COUNT(own); i++) {
        subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                              "ld.global.u32 %r2, [%rd2];\n"
                              "ret;");
        subject_stall(&subject, 1, own[i], 30);
        subject_blame(&subject, NULL);
        assert_int_equal(subject.blame->edge_count, 1);
        assert_near(subject_blamed(&subject, 1, own[i], 1), 30);
        assert_int_equal(subject.blame->edges[0].class, classes[i]);
        assert_true(subject.blame->unattributed == 0);
        subject_free(&subject);
    }
}

TEST(a_function_without_code_blames_itself) {
    memset(&subject, 0, sizeof subject);
    subject.function = (ProfileFunction){.id = 1, .name = "k"};
    subject.view = (KernelView){.function = &subject.function, .insn_count = 4, .samples = subject.samples};
    subject_stall(&subject, 3, LONG, 7);
    subject_stall(&subject, 1, STALL_BARRIER, 5);
    subject_stall(&subject, 1, STALL_SELECTED, 5);
    subject_blame(&subject, NULL);
    assert_int_equal(subject.blame->edge_count, 2);
    assert_near(subject_blamed(&subject, 3, LONG, 3), 7);
    assert_near(subject_blamed(&subject, 1, STALL_BARRIER, 1), 5);
    assert_int_equal(subject.blame->first[4], 2);
    arena_free(&subject.arena);
}

// --- ways
// -------------------------------------------------------------------------------------------------------------- The
// load of the turn before.
TEST(sources_come_around_a_loop) {
    subject_ptx(&subject, "mov.u32 %r1, 0;\n"
                          "LOOP: add.u32 %r2, %r2, %r1;\n"
                          "add.u64 %rd1, %rd1, 4;\n"
                          "ld.global.u32 %r1, [%rd1];\n"
                          "setp.lt.u32 %p1, %r2, 100;\n"
                          "@%p1 bra LOOP;\n"
                          "ret;");
    subject_stall(&subject, 1, LONG, 60);
    subject_stall(&subject, 1, STALL_WAIT, 40);
    subject_blame(&subject, NULL);
    const BlameEdge *edge = subject_edge(&subject, 1, LONG, 3);
    assert_true(edge && edge->same_loop && edge->distance == 3);
    assert_near(edge->samples, 60);
    subject_free(&subject);
}

TEST(a_source_ahead_of_a_loop_is_in_no_loop_with_it) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "LOOP: add.u32 %r2, %r2, %r1;\n"
                          "setp.lt.u32 %p1, %r2, 100;\n"
                          "@%p1 bra LOOP;\n"
                          "ret;");
    subject_stall(&subject, 1, LONG, 60);
    subject_blame(&subject, NULL);
    const BlameEdge *edge = subject_edge(&subject, 1, LONG, 0);
    assert_true(edge && !edge->same_loop && edge->distance == 1);
    subject_free(&subject);
}

// Stores before a fence; the branch before its target.
TEST(stalls_of_no_register_look_at_what_lies_before) {
    subject_ptx(&subject, "st.global.u32 [%rd1], %r1;\n"
                          "membar.gl;\n"
                          "st.global.u32 [%rd2], %r1;\n"
                          "add.u32 %r5, %r5, 1;\n"
                          "membar.gl;\n"
                          "bra NEXT;\n"
                          "NEXT: add.u32 %r6, %r6, 1;\n"
                          "ret;");
    subject_stall(&subject, 4, STALL_MEMBAR, 60);
    subject_stall(&subject, 6, STALL_BRANCH_RESOLVING, 40);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 6, STALL_BRANCH_RESOLVING, 5), 40);
    assert_true(subject_blamed(&subject, 4, STALL_MEMBAR, 2) > 30);
    assert_int_equal(subject_edge(&subject, 4, STALL_MEMBAR, 2)->class, BLAME_FENCE);
    subject_free(&subject);
}

// Stores leave in order: what ends a warp waits for its last one, and for one under a guard behind that.
TEST(stores_are_waited_for_by_the_last_of_them) {
    const char *body = "st.global.u32 [%rd1], %r1;\n"
                       "st.global.u32 [%rd2], %r1;\n"
                       "@%p1 st.global.u32 [%rd3], %r1;\n"
                       "ret;";
    assert_near(blamed_of_100(body, 3, STALL_DRAIN, 0, NULL), 0);
    assert_near(blamed_of_100(body, 3, STALL_DRAIN, 1, NULL) + blamed_of_100(body, 3, STALL_DRAIN, 2, NULL), 100);
    assert_true(blamed_of_100(body, 3, STALL_DRAIN, 1, NULL) > 1);
}

// Warps wait at a barrier for those that waited for memory ahead of it.
TEST(barriers_are_blamed_on_what_held_the_others_up) {
    static const BlameOptions off = {.no_late_arrivers = true};
    for (u32 i = 0; i < 2; i++) {
        subject_ptx(&subject, "bar.sync 0;\n"
                              "ld.global.u32 %r1, [%rd1];\n"
                              "add.u32 %r2, %r1, 1;\n"
                              "st.shared.u32 [%rd2], %r2;\n"
                              "bar.sync 0;\n"
                              "ret;");
        subject_stall(&subject, 2, LONG, 500);
        subject_stall(&subject, 4, STALL_BARRIER, 100);
        subject_blame(&subject, i ? &off : NULL);
        assert_near(subject_blamed(&subject, 4, STALL_BARRIER, i ? 4 : 1), 100);
        subject_free(&subject);
    }
}

// 32 warps meet, of which one comes from a loop. All wait for memory before, but not for long: it is the loop that the
// others wait for, although all together wait longer for memory.
TEST(barriers_are_blamed_on_where_few_warps_come_from) {
    subject_ptx(&subject, "bar.sync 0;\n"
                          "ld.global.u32 %r1, [%rd1];\n"
                          "add.u32 %r2, %r1, 1;\n"
                          "@%p1 bra MEET;\n"
                          "mov.u32 %r3, 0;\n"
                          "LOOP: ld.shared.u32 %r4, [%rd2];\n"
                          "add.u32 %r3, %r3, %r4;\n"
                          "setp.lt.u32 %p2, %r3, 100;\n"
                          "@%p2 bra LOOP;\n"
                          "MEET: bar.sync 0;\n"
                          "ret;");
    for (u32 pc = 0; pc < 11; pc++) subject_run(&subject, pc, pc == 4 ? 1 : pc > 4 && pc < 9 ? 10 : 32);
    subject_stall(&subject, 2, LONG, 3200);
    subject_stall(&subject, 6, SHORT, 500);
    subject_stall(&subject, 9, STALL_BARRIER, 600);
    subject.view.occupancy.warps_per_cta = 32;
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 9, STALL_BARRIER, 5), 500);  // 500 cycles of that warp
    assert_near(subject_blamed(&subject, 9, STALL_BARRIER, 1), 100);  // ... and of each
    subject_free(&subject);
}

// What lies ahead of a loop makes warps late in its first turn, what is in it in each.
TEST(barriers_in_a_loop_are_blamed_on_the_loop) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "add.u32 %r2, %r1, 1;\n"
                          "LOOP: ld.shared.u32 %r3, [%r2];\n"
                          "add.u32 %r2, %r3, %r2;\n"
                          "bar.sync 0;\n"
                          "setp.lt.u32 %p1, %r2, 100;\n"
                          "@%p1 bra LOOP;\n"
                          "ret;");
    subject_run(&subject, 0, 10);
    subject_run(&subject, 1, 10);
    for (u32 pc = 2; pc < 7; pc++) subject_run(&subject, pc, 1000);
    subject_stall(&subject, 1, LONG, 1000);    // 100 for each warp, once
    subject_stall(&subject, 3, SHORT, 25000);  // 25 in each of a hundred turns
    subject_stall(&subject, 4, STALL_BARRIER, 100);
    subject_blame(&subject, NULL);
    assert_near(subject_blamed(&subject, 4, STALL_BARRIER, 2), 100 * 25.0 / 26);
    assert_near(subject_blamed(&subject, 4, STALL_BARRIER, 0), 100 / 26.0);
    subject_free(&subject);
}

// --- against the truth -----------------------------------------------------------------------------------------------
TEST(precision_is_the_overlap_with_the_truth) {
    subject_ptx(&subject, TWO_WAYS);
    for (u32 pc = 0; pc < 8; pc++) subject.places[pc] = (ProfilePlace){"a.cu", pc < 4 ? 10 : 20};
    subject_stall(&subject, 6, LONG, 100);
    subject_blame(&subject, NULL);  // 60 and 40, after equation 1
    // of the truth: 1 by 90 of 200 cycles (its part of the blame is 120), 3 by 60 (80), another function's by 50
    const ProfileStallCause causes[] = {
        {6, LONG, 1, 1, 90, 9}, {6, LONG, 1, 3, 60, 6}, {6, LONG, 2, 3, 50, 5}, {7, LONG, 1, 3, 1000, 5}};
    subject.view.causes = causes;
    subject.view.cause_count = 4;
    BlameTruth truth;
    assert_int_equal(blame_compare(subject.blame, &subject.arena, &truth), STATUS_OK);
    assert_near(truth.cycles, 200);  // nothing was blamed at 7
    assert_near(truth.precision, 150 / 200.0);
    assert_near(truth.line_precision, 150 / 200.0);
    assert_near(truth.reason_precision[LONG], 150 / 200.0);
    assert_true(isnan(truth.reason_precision[STALL_WAIT]));
    subject_free(&subject);
}

// Each of two blamed lines took a share; the truth is one instruction of the same line.
TEST(lines_are_right_where_instructions_are_not) {
    subject_ptx(&subject, TWO_WAYS);
    for (u32 pc = 0; pc < 8; pc++) subject.places[pc] = (ProfilePlace){"a.cu", pc < 4 ? 10 : 20};
    subject_stall(&subject, 6, LONG, 100);
    subject_blame(&subject, NULL);
    const ProfileStallCause cause = {6, LONG, 1, 1, 100, 9};
    subject.view.causes = &cause;
    subject.view.cause_count = 1;
    BlameTruth truth;
    assert_int_equal(blame_compare(subject.blame, &subject.arena, &truth), STATUS_OK);
    assert_near(truth.precision, 0.6);
    assert_near(truth.line_precision, 1);
    subject_free(&subject);
}

TEST(what_the_simulator_saw_is_taken_when_asked_for) {
    subject_ptx(&subject, TWO_WAYS);
    subject_stall(&subject, 6, LONG, 100);
    subject_stall(&subject, 7, LONG, 40);
    const ProfileStallCause causes[] = {{6, LONG, 1, 1, 15, 9}, {6, LONG, 1, 3, 30, 6}, {6, LONG, 2, 3, 15, 5}};
    subject.view.causes = causes;
    subject.view.cause_count = 3;
    subject_blame(&subject, &(BlameOptions){.known_causes = true});
    assert_near(subject_blamed(&subject, 6, LONG, 1), 25);
    assert_near(subject_blamed(&subject, 6, LONG, 3), 50);
    assert_near(subject_blamed(&subject, 6, LONG, 6), 25);  // of another function
    f64 inferred = 0;
    for (u32 i = 0; i < subject.blame->edge_count; i++)
        if (subject.blame->edges[i].use == 7) inferred += subject.blame->edges[i].samples;
    assert_near(inferred, 40);  // nothing was seen of them
    subject_free(&subject);
}

TEST(memory_may_run_out) {
    subject_ptx(&subject, TWO_WAYS);
    subject_stall(&subject, 6, LONG, 100);
    subject_stall(&subject, 7, STALL_DRAIN, 10);
    subject_stall(&subject, 3, STALL_BARRIER, 10);
    bool succeeded = false;
    for (u64 n = 0; n < 60; n++) {
        Arena arena = {0};
        Blame *blame;
        u64 left = n;
        testing_memory_out_after(&left);
        Status status = blame_kernel(&subject.view, NULL, &arena, &blame);
        testing_memory_back();
        assert_true(status == STATUS_OK ? blame != NULL : status == STATUS_NO_MEMORY && !blame);
        succeeded |= status == STATUS_OK;
        arena_free(&arena);
    }
    assert_true(succeeded);
    subject_free(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_load_of_a_register_is_blamed),
        cmocka_unit_test(classes_are_of_what_was_waited_for),
        cmocka_unit_test(dropped_copies_are_looked_through),
        cmocka_unit_test(distances_are_those_of_the_machines_order),
        cmocka_unit_test(merged_loads_are_the_wide_one),
        cmocka_unit_test(predicates_are_followed_until_they_cover),
        cmocka_unit_test(one_predicate_does_not_cover),
        cmocka_unit_test(the_guard_of_the_use_covers),
        cmocka_unit_test(a_predicate_that_was_set_anew_does_not_cover),
        cmocka_unit_test(the_guard_itself_is_waited_for),
        cmocka_unit_test(only_what_has_the_stall_of_its_name_is_blamed),
        cmocka_unit_test(what_was_waited_for_before_is_not_blamed_again),
        cmocka_unit_test(a_reader_under_a_guard_or_on_one_way_only_does_not_prune),
        cmocka_unit_test(a_reader_in_a_dominating_block_prunes),
        cmocka_unit_test(what_is_further_away_than_its_latency_is_not_blamed),
        cmocka_unit_test(a_rule_that_leaves_nothing_does_not_apply),
        cmocka_unit_test(alternatives_are_weighed_by_issues_and_length),
        cmocka_unit_test(issue_counts_come_from_samples_where_nothing_was_counted),
        cmocka_unit_test(what_was_not_executed_is_not_blamed),
        cmocka_unit_test(of_two_operands_the_later_one_is_blamed),
        cmocka_unit_test(an_instruction_of_several_steps_waits_for_itself),
        cmocka_unit_test(what_no_source_is_waited_for_is_a_step_of_its_own),
        cmocka_unit_test(a_branch_does_not_wait_for_its_own_steps),
        cmocka_unit_test(the_predicate_of_a_side_is_waited_for),
        cmocka_unit_test(the_first_reader_is_that_of_the_machine),
        cmocka_unit_test(what_lies_ahead_of_a_loop_is_waited_for_once),
        cmocka_unit_test(coverage_counts_sources_before_and_after_pruning),
        cmocka_unit_test(stalls_without_a_source_stay_where_they_are),
        cmocka_unit_test(other_stalls_are_the_instructions_own),
        cmocka_unit_test(a_function_without_code_blames_itself),
        cmocka_unit_test(sources_come_around_a_loop),
        cmocka_unit_test(a_source_ahead_of_a_loop_is_in_no_loop_with_it),
        cmocka_unit_test(stalls_of_no_register_look_at_what_lies_before),
        cmocka_unit_test(stores_are_waited_for_by_the_last_of_them),
        cmocka_unit_test(barriers_are_blamed_on_what_held_the_others_up),
        cmocka_unit_test(barriers_are_blamed_on_where_few_warps_come_from),
        cmocka_unit_test(barriers_in_a_loop_are_blamed_on_the_loop),
        cmocka_unit_test(precision_is_the_overlap_with_the_truth),
        cmocka_unit_test(lines_are_right_where_instructions_are_not),
        cmocka_unit_test(what_the_simulator_saw_is_taken_when_asked_for),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
