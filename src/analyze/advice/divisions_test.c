// SPDX-License-Identifier: Apache-2.0
// strength-reduction on loops in machine code of which there are only samples: remainders by what all turns share.
#include <math.h>

#include "analyze/advice/sampled_testing.h"
#include "flow/flow_testing.h"

// nvcc 13.0, sm_90: the reciprocal of R6, which is loaded before the loop, and the remainder of `dividend` by it.
#define STEPS                                                                                            \
    "|I2F.U32.RP|R5,R6", "|MUFU.RCP|R5,R5", "|VIADD|R12,R5,0xffffffe", "|F2I.FTZ.U32.TRUNC.NTZ|R13,R12", \
        "|IMAD.MOV|R15,RZ,RZ,-R13", "|IMAD|R15,R15,R6,RZ", "|MOV|R12,RZ", "|IMAD.HI.U32|R13,R13,R15,R12"
#define RECIPROCAL "|LDG.E|R6,desc[UR4][R2.64]", STEPS, "|MOV|R20,RZ", "|MOV|R7,RZ"
#define REMAINDER(dividend)                                                                                        \
    "|IMAD.HI.U32|R21,R13," dividend ",RZ", "|IMAD.MOV|R21,RZ,RZ,-R21", "|IMAD|R21,R6,R21," dividend,              \
        "|ISETP.GE.U32.AND|P2,PT,R21,R6,PT", "@P2|IMAD.IADD|R21,R21,0x1,-R6", "|ISETP.GE.U32.AND|P2,PT,R21,R6,PT", \
        "@P2|IADD3|R21,-R6,R21,RZ"
// Of a loop that begins at `loop` and counts in R7.
#define TURNS(step, loop)                                                                                           \
    "|IADD3|R7,R7," step ",RZ", "|ISETP.LT.AND|P0,PT,R7,0x2000,PT", "@P0|BRA|" loop, "|STG.E|desc[UR4][R2.64],R20", \
        "|EXIT|"
enum { LOOP = 11, REMAINDER_STEPS = 7 };

// Of the loop's instructions, all of which issued as often, how many go.
static f64 gone(const char *const *lines, u32 *carried) {
    static u32 issued[64];
    Machine m;
    for (u32 i = 0; i < WL_COUNT(issued); i++) issued[i] = i < LOOP ? 1 : 1000;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "strength-reduction");
    assert_non_null(hit);
    f64 of_loop = hit->change.issues / 1000;
    *carried = 0;
    for (u32 i = 0; i < hit->facts.len; i++)
        if (!strcmp(hit->facts.data[i].name, "carried_remainders")) *carried = (u32)hit->facts.data[i].value;
    machine_end(&m);
    return of_loop;
}

// The dividend goes on by 5 in every turn: both products go, and of the four corrections three stay, a comparison, a
// difference and a choice. The negation goes with them.
static void remainders_of_what_goes_on_evenly_are_carried(void **state) {
    (void)state;
    static const char *const lines[] = {RECIPROCAL, REMAINDER("R7"), "|IMAD.IADD|R20,R20,0x1,R21", TURNS("0x5", "0xb0"),
                                        NULL};
    u32 carried;
    f64 all = gone(lines, &carried);
    assert_int_equal(carried, 1);
    assert_true(fabs(all - (REMAINDER_STEPS - 3)) < 0.05);
}

// The dividend is the remainder before and something more, as a place in a ring.
static void remainders_of_themselves_are_carried(void **state) {
    (void)state;
    static const char *const lines[] = {RECIPROCAL,     "|IADD3|R22,R20,0x5,RZ", REMAINDER("R22"),
                                        "|MOV|R20,R21", TURNS("0x1", "0xb0"),    NULL};
    u32 carried;
    gone(lines, &carried);
    assert_int_equal(carried, 1);
}

// What is loaded in every turn is anywhere: the quotient's product stays, and the one with the divisor.
static void remainders_of_data_are_not(void **state) {
    (void)state;
    static const char *const lines[] = {RECIPROCAL,           "|LDG.E|R22,desc[UR4][R2.64+0x10]",
                                        REMAINDER("R22"),     "|IMAD.IADD|R20,R20,0x1,R21",
                                        TURNS("0x1", "0xb0"), NULL};
    u32 carried;
    f64 all = gone(lines, &carried);
    assert_int_equal(carried, 0);
    assert_true(fabs(all - (REMAINDER_STEPS - 4)) < 0.05);
}

// The compiler may make the reciprocal again in the loop, as where it has no register for it.
static void reciprocals_come_from_two_places(void **state) {
    (void)state;
    static const char *const lines[] = {RECIPROCAL, REMAINDER("R7"),      "|IMAD.IADD|R20,R20,0x1,R21",
                                        STEPS,      TURNS("0x5", "0xb0"), NULL};
    u32 carried;
    f64 all = gone(lines, &carried);
    assert_int_equal(carried, 1);
    assert_true(fabs(all - (REMAINDER_STEPS - 3 + 7)) < 0.05);  // but the zero to which its last step adds
}

// --- divisions of 64 bits whose numbers fit 32 ---------------------------------------------------------------------
// By an argument, in a loop: the test of upper words and the short way. The loop begins at 0x30, the short way at 0xb0,
// lanes meet at 0x1a0, and the routine begins at 0x210.
static const char *const long_division[] = {"|LDC.64|R10,c[0x0][0x210]",
                                            "|MOV|R20,RZ",
                                            "|MOV|R7,RZ",
                                            "|LDG.E.64|R8,desc[UR4][R2.64]",
                                            "|LOP3.LUT|R17,R9,R11,RZ,0xfc,!PT",
                                            "|ISETP.NE.U32.AND|P0,PT,R17,RZ,PT",
                                            "|BSSY|B0,0x1a0",
                                            "@!P0|BRA|0xb0",
                                            "|MOV|R4,0xa0",
                                            "|CALL.REL.NOINC|0x210",
                                            "|BRA|0x1a0",
                                            "|I2F.U32.RP|R5,R10",
                                            "|MUFU.RCP|R5,R5",
                                            "|VIADD|R12,R5,0xffffffe",
                                            "|F2I.FTZ.U32.TRUNC.NTZ|R13,R12",
                                            "|IMAD.MOV|R15,RZ,RZ,-R13",
                                            "|IMAD|R15,R15,R10,RZ",
                                            "|MOV|R12,RZ",
                                            "|IMAD.HI.U32|R13,R13,R15,R12",
                                            "|IMAD.HI.U32|R21,R13,R8,RZ",
                                            "|IMAD.MOV|R21,RZ,RZ,-R21",
                                            "|IMAD|R21,R10,R21,R8",
                                            "|ISETP.GE.U32.AND|P2,PT,R21,R10,PT",
                                            "@P2|IMAD.IADD|R21,R21,0x1,-R10",
                                            "|ISETP.GE.U32.AND|P2,PT,R21,R10,PT",
                                            "@P2|IADD3|R21,-R10,R21,RZ",
                                            "|BSYNC|B0",
                                            "|IMAD.IADD|R20,R20,0x1,R21",
                                            TURNS("0x1", "0x30"),
                                            "|IMAD|R21,R8,R10,RZ",
                                            "|RET.REL.NODEC|R4 0x0",
                                            NULL};
enum { TURN = 3, LONG_WAY = 8, SHORT_WAY = 11, LAST_OF_TURN = 30, ROUTINE = 33 };

// Nothing is in the way of making the reciprocal before the loop, once, when upper words are not asked for: its seven
// steps go, and the five instructions that ask and meet.
static void reciprocals_of_arguments_leave_the_loop(void **state) {
    (void)state;
    u32 issued[40] = {0};
    for (u32 i = 0; i < ROUTINE; i++) {
        bool turns = i >= TURN && i <= LAST_OF_TURN, longer = i >= LONG_WAY && i < SHORT_WAY;
        issued[i] = longer ? 0 : turns ? 1000 : 1;
    }
    Machine m;
    machine_begin(&m, long_division, issued);
    SassRoutine routine = {.name = "$__internal_0_$__cuda_sm20_rem_u64", .offset = ROUTINE * 16};
    assert_int_equal(vec_push(&m.module.routines, routine), STATUS_OK);
    m.module.functions.data[0].first_routine = 0, m.module.functions.data[0].routine_count = 1;
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "wrong-type");
    assert_non_null(hit);
    assert_true(fabs(hit->change.issues / 1000 - (7 + 5)) < 0.05);
    machine_end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remainders_of_what_goes_on_evenly_are_carried),
        cmocka_unit_test(remainders_of_themselves_are_carried), cmocka_unit_test(remainders_of_data_are_not),
        cmocka_unit_test(reciprocals_come_from_two_places), cmocka_unit_test(reciprocals_of_arguments_leave_the_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
