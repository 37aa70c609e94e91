// SPDX-License-Identifier: Apache-2.0
// Stalls of a fixed number of cycles, in the machine's order: the last of several results, whoever has the unit, and
// branches.
#include "analyze/analyze_testing.h"

static Subject subject;
// What the rules ask of a model: a logic instruction takes its unit for two cycles.
static const GpuModel model = {.alu_latency = 4,
                               .alu_interval = 2,
                               .fma_interval = 1,
                               .fmaheavy_interval = 1,
                               .branch_latency = 5,
                               .branch_taken = 10,
                               .sync_latency = 14};
static f64 places[SUBJECT_INSNS];

// The machine's order is that of the text.
static void open_ordered(const char *body) {
    subject_ptx(&subject, body);
    f64 at = 0;
    for (u32 pc = 0; pc < subject.view.insn_count; pc++) places[pc] = at++;
    subject.view.place = places;
    subject.view.gpu = &model;
    subject.view.latency_known = true;
}

// `pc` is two machine instructions, one behind the other.
static void split(u32 pc) {
    subject.issued[pc] = 2;
    for (u32 i = pc + 1; i < subject.view.insn_count; i++) places[i] += 1;
    places[pc] += 0.5;
}

static f64 blamed_of_100(u32 use, StallReason reason, u32 def) {
    subject_stall(&subject, use, reason, 100);
    subject_blame(&subject, NULL);
    return subject_blamed(&subject, use, reason, def);
}

// Both results are near enough to be waited for; one of them comes two cycles later.
TEST(of_results_that_take_a_fixed_time_the_last_is_waited_for) {
    open_ordered("xor.b32 %r1, %r1, %r9;\n"
                 "mul.lo.u32 %r7, %r9, %r9;\n"
                 "mul.lo.u32 %r2, %r9, %r8;\n"
                 "xor.b32 %r3, %r1, %r2;\n"
                 "ret;");
    assert_near(blamed_of_100(3, STALL_WAIT, 2), 100);
    assert_int_equal(subject.blame->coverage.single_before, 0);
    assert_int_equal(subject.blame->coverage.single_after, 1);
    subject_free(&subject);
}

// Nothing that it reads is new: the logic unit takes another instruction in the second cycle only.
TEST(the_unit_is_waited_for) {
    static const BlameOptions off = {.no_turns = true};
    for (u32 i = 0; i < 2; i++) {
        open_ordered("xor.b32 %r1, %r9, %r8;\n"
                     "xor.b32 %r2, %r9, %r7;\n"
                     "ret;");
        subject_stall(&subject, 1, STALL_WAIT, 100);
        subject_blame(&subject, i ? &off : NULL);
        assert_near(subject_blamed(&subject, 1, STALL_WAIT, i), 100);
        subject_free(&subject);
    }
}

// A result that was there long before is not waited for either: the unit is.
TEST(the_unit_is_waited_for_where_results_are_there) {
    open_ordered("xor.b32 %r1, %r1, %r9;\n"
                 "mul.lo.u32 %r10, %r9, %r9; mul.lo.u32 %r11, %r9, %r9; mul.lo.u32 %r12, %r9, %r9;\n"
                 "xor.b32 %r2, %r2, %r9;\n"  // 4
                 "xor.b32 %r3, %r1, %r8;\n"
                 "ret;");
    assert_near(blamed_of_100(5, STALL_WAIT, 4), 100);
    subject_free(&subject);
}

// Its halves do not need each other. Each waits a cycle for the unit: the first for the instruction before, the second
// for the first.
TEST(halves_of_64_bits_wait_for_their_unit_only) {
    open_ordered("xor.b64 %rd1, %rd9, %rd8;\n"
                 "xor.b64 %rd2, %rd9, %rd7;\n"
                 "ret;");
    split(0);
    split(1);
    assert_near(blamed_of_100(1, STALL_WAIT, 0), 50);
    assert_near(subject_blamed(&subject, 1, STALL_WAIT, 1), 50);
    subject_free(&subject);
}

#define SIDES                           \
    "setp.eq.u32 %p1, %r1, 0;\n"        \
    "@%p1 bra ELSE;\n"                  \
    "add.u32 %r2, %r2, 1;\n"            \
    "bra JOIN;\n"                       \
    "ELSE: add.u32 %r2, %r2, 2;\n"      \
    "JOIN: mul.lo.u32 %r3, %r9, %r9;\n" \
    "ret;"

// Behind the stall count of a branch.
TEST(the_first_of_a_block_waits_for_the_branch) {
    open_ordered(SIDES);
    assert_near(blamed_of_100(4, STALL_WAIT, 1), 100);
    assert_near(blamed_of_100(4, STALL_BRANCH_RESOLVING, 1), 100);
    subject_free(&subject);
}

// Where lanes meet again BSYNC comes first, which counts for the block's first instruction: 9 of 14 cycles are its own,
// 5 those of the branch, where it was taken.
TEST(where_lanes_meet_the_meeting_is_waited_for) {
    open_ordered("mov.u32 %r1, %tid.x;\n" SIDES);
    split(6);
    assert_near(blamed_of_100(6, STALL_BRANCH_RESOLVING, 6), 100 * 9.0 / 14);
    assert_near(subject_blamed(&subject, 6, STALL_BRANCH_RESOLVING, 4), 100 * 5.0 / 14);
    subject_free(&subject);
}

// Six loads in a row, of which four have a scoreboard of their own: the fifth and sixth share that of the fourth. So
// its first reader, the first addition of the three, waits for all three, for the last one most.
TEST(loads_that_share_a_scoreboard_are_waited_for_together) {
    static const GpuModel maxwell = {.sm_version = 50, .alu_latency = 4, .l2_latency = 250};
    static const BlameOptions off = {.no_boards = true};
    for (u32 i = 0; i < 2; i++) {
        open_ordered("ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd3];\n"
                     "ld.global.u32 %r4, [%rd4]; ld.global.u32 %r5, [%rd5]; ld.global.u32 %r6, [%rd6];\n"
                     "add.u32 %r7, %r1, 1; add.u32 %r8, %r2, 1; add.u32 %r9, %r3, 1;\n"
                     "add.u32 %r10, %r4, 1; add.u32 %r11, %r5, 1; add.u32 %r12, %r6, 1;\n"
                     "ret;");
        subject.view.gpu = &maxwell;
        for (u32 pc = 8; pc <= 10; pc++) subject_stall(&subject, pc, STALL_LONG_SCOREBOARD, 100);
        subject_blame(&subject, i ? &off : NULL);
        f64 shares[3];
        for (u32 k = 0; k < 3; k++) shares[k] = subject_blamed(&subject, 9, STALL_LONG_SCOREBOARD, 3 + k);
        assert_near(subject_blamed(&subject, 8, STALL_LONG_SCOREBOARD, 2), 100);
        assert_near(subject_blamed(&subject, 10, STALL_LONG_SCOREBOARD, 4), 100);
        assert_near(shares[0] + shares[1] + shares[2], 100);
        assert_true(i ? shares[0] > 99 : shares[2] > shares[1] && shares[1] > shares[0] && shares[0] > 0);
        subject_free(&subject);
    }
}

// Without a model nothing is known of units.
TEST(without_a_model_the_rules_are_as_before) {
    open_ordered("xor.b32 %r1, %r9, %r8;\n"
                 "xor.b32 %r2, %r9, %r7;\n"
                 "ret;");
    subject.view.gpu = NULL;
    assert_near(blamed_of_100(1, STALL_WAIT, 1), 100);
    subject_free(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_results_that_take_a_fixed_time_the_last_is_waited_for),
        cmocka_unit_test(the_unit_is_waited_for),
        cmocka_unit_test(the_unit_is_waited_for_where_results_are_there),
        cmocka_unit_test(halves_of_64_bits_wait_for_their_unit_only),
        cmocka_unit_test(the_first_of_a_block_waits_for_the_branch),
        cmocka_unit_test(where_lanes_meet_the_meeting_is_waited_for),
        cmocka_unit_test(loads_that_share_a_scoreboard_are_waited_for_together),
        cmocka_unit_test(without_a_model_the_rules_are_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
