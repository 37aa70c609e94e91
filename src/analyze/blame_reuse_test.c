// SPDX-License-Identifier: Apache-2.0
// Which of two loads that an instruction waits for is blamed, where their addresses say which one a cache may hold.
#include "analyze/analyze_testing.h"

#include <math.h>

static Subject subject;

// Of 100 samples at `use` what is blamed on `def`, in a launch of 64 CTAs of 256 threads.
static f64 blamed(const char *body, u32 use, u32 def, u64 turns) {
    static const ProfileLaunch launch = {.grid = {64, 1, 1}, .block = {256, 1, 1}};
    subject_ptx(&subject, body);
    subject.view.launches.typical = &launch;
    for (u32 pc = 0; turns && pc < subject.view.insn_count; pc++)
        if (subject.view.flow.loops->loop_of[subject.view.flow.cfg->block_of[pc]] != WL_NONE)
            subject_run(&subject, pc, turns);
    subject_stall(&subject, use, STALL_LONG_SCOREBOARD, 100);
    subject_blame(&subject, NULL);
    f64 part = subject_blamed(&subject, use, STALL_LONG_SCOREBOARD, def);
    subject_free(&subject);
    return part;
}

// %rd1: p + 4 * thread of the grid, %rd2: p + 4 * thread of the CTA.
#define ADDRESSES                                                                                    \
    "ld.param.u64 %rd9, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n" \
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.s32 %rd3, %r4, 4;\nadd.s64 %rd1, %rd9, %rd3;\n"        \
    "mul.wide.s32 %rd4, %r1, 4;\nadd.s64 %rd2, %rd9, %rd4;\n"

// What each thread has for itself no cache has; what all CTAs read one may have, though it is asked for later.
TEST(what_no_other_thread_reads_is_last) {
    const char *body = ADDRESSES "ld.global.f32 %f1, [%rd1];\n"
                                 "ld.global.f32 %f2, [%rd2+4096];\n"
                                 "add.f32 %f3, %f1, %f2;\n"
                                 "ret;";
    assert_true(blamed(body, 11, 9, 0) > 50);
}

// A neighbour that was asked for already is no stream any more: the later one of two alike is blamed.
TEST(neighbours_are_asked_for_by_the_first) {
    const char *apart = ADDRESSES "ld.global.f32 %f1, [%rd1];\n"
                                  "ld.global.f32 %f2, [%rd1+65536];\n"
                                  "add.f32 %f3, %f1, %f2;\n"
                                  "ret;";
    const char *near = ADDRESSES "ld.global.f32 %f1, [%rd1];\n"
                                 "ld.global.f32 %f2, [%rd1+4];\n"
                                 "add.f32 %f3, %f1, %f2;\n"
                                 "ret;";
    f64 alike = blamed(apart, 11, 9, 0);
    assert_true(fabs(alike - 50) < 3);  // two streams: DRAM's order
    assert_true(blamed(near, 11, 9, 0) > alike);
}

// A load that moves by 4 bytes a turn needs a new sector each eighth turn, one that moves by 128 in every turn.
TEST(short_steps_stay_in_a_sector) {
    const char *body = ADDRESSES "mov.u32 %r5, 0;\n"
                                 "LOOP: ld.global.f32 %f1, [%rd2];\n"
                                 "ld.global.f32 %f2, [%rd9];\n"
                                 "fma.rn.f32 %f3, %f1, %f2, %f3;\n"
                                 "add.s64 %rd2, %rd2, 128;\n"
                                 "add.s64 %rd9, %rd9, 4;\n"
                                 "add.u32 %r5, %r5, 1;\n"
                                 "setp.lt.u32 %p1, %r5, 64;\n"
                                 "@%p1 bra LOOP;\n"
                                 "ret;";
    assert_true(blamed(body, 12, 10, 64) > 75);
}

// Sectors come one after the other: of two loads of which nothing is known, the one of more sectors is last.
TEST(many_sectors_come_later_than_few) {
    subject_ptx(&subject, "ld.global.u32 %r1, [%rd1];\n"
                          "ld.global.u32 %r2, [%rd2];\n"
                          "add.u32 %r3, %r1, %r2;\n"
                          "ret;");
    const ProfilePcMetric counts[] = {{.pc = 0, .metric = METRIC_GLOBAL_LD_REQ, .value = 10},
                                      {.pc = 0, .metric = METRIC_GLOBAL_LD_SECT, .value = 320},
                                      {.pc = 1, .metric = METRIC_GLOBAL_LD_REQ, .value = 10},
                                      {.pc = 1, .metric = METRIC_GLOBAL_LD_SECT, .value = 40}};
    const u32 first[] = {0, 2, 4, 4, 4};
    subject.view.counts = counts;
    subject.view.first_count = first;
    subject_stall(&subject, 2, STALL_LONG_SCOREBOARD, 100);
    subject_blame(&subject, NULL);
    assert_true(subject_blamed(&subject, 2, STALL_LONG_SCOREBOARD, 0) > 90);
    subject_free(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_other_thread_reads_is_last),
        cmocka_unit_test(neighbours_are_asked_for_by_the_first),
        cmocka_unit_test(short_steps_stay_in_a_sector),
        cmocka_unit_test(many_sectors_come_later_than_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
