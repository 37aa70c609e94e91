// SPDX-License-Identifier: Apache-2.0
// Kernels in machine code of which there are only samples, made up: how often instructions ran, and rules that look at
// where lanes part and meet.
#include <math.h>

#include "analyze/advice/sampled_testing.h"
#include "flow/flow_testing.h"

// The samples of those who jump over the instructions 2 to 4 are those of instruction 2; 5 has only those of the
// others.
static void samples_behind_a_jump_are_where_it_went(void **state) {
    (void)state;
    static const char *const lines[] = {"|ISETP.GT.AND|P0,PT,R0,0x3,PT",
                                        "@P0|BRA|0x50",
                                        "|FADD|R1,R1,R2",
                                        "|FADD|R1,R1,R2",
                                        "|FADD|R1,R1,R2",
                                        "|FADD|R3,R3,R2",
                                        "|FADD|R3,R3,R2",
                                        "|FADD|R3,R3,R2",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {100, 100, 100, 40, 40, 40, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const CaseInsn *insns = m.s.c.parts[0].insns;
    assert_near(insns[0].executed, 100);
    assert_near(insns[2].executed, 40);
    assert_near(insns[5].executed, 100);
    assert_near(insns[5].issued, 100);
    machine_end(&m);
}

// Lanes come to BSYNC in two groups: it issues twice, and the block behind it runs once.
static void groups_of_lanes_meet(void **state) {
    (void)state;
    static const char *const lines[] = {"|ISETP.GT.AND|P0,PT,R0,0x3,PT",
                                        "|BSSY|B0,0x60",
                                        "@P0|BRA|0x60",
                                        "|FADD|R1,R1,R2",
                                        "|FADD|R1,R1,R2",
                                        "|FADD|R1,R1,R2",
                                        "|BSYNC|B0",
                                        "|FADD|R3,R3,R2",
                                        "|FADD|R3,R3,R2",
                                        "|FADD|R3,R3,R2",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {100, 100, 100, 100, 100, 100, 100, 200, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const CaseInsn *insns = m.s.c.parts[0].insns;
    assert_near(insns[6].executed, 100);
    assert_near(insns[6].issued, 200);
    assert_near(insns[7].issued, 100);
    assert_near(insns[8].issued, 100);
    machine_end(&m);
}

// The BSYNC behind a loop has the samples of the 300 turns that begin with a jump back, and is come to 100 times.
static void turns_of_a_loop_are_no_meetings(void **state) {
    (void)state;
    static const char *const lines[] = {"|MOV|R1,R2",     "|BSSY|B0,0x50",
                                        "|FADD|R1,R1,R2", "|FSETP.GT.AND|P0,PT,R1,R3,PT",
                                        "@P0|BRA|0x20",   "|BSYNC|B0",
                                        "|FADD|R3,R3,R2", "|FADD|R3,R3,R2",
                                        "|EXIT|",         NULL};
    static const u32 issued[] = {100, 100, 100, 400, 400, 400, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const CaseInsn *insns = m.s.c.parts[0].insns;
    assert_near(insns[2].issued, 400);
    assert_near(insns[5].issued, 100);
    machine_end(&m);
}

// A jump whose guard counts and whose operand is a test of data differs between threads; one with the guard alone does
// not.
static void a_jump_has_two_conditions(void **state) {
    (void)state;
    static const char *const lines[] = {"|LDG.E|R1,desc[UR4][R4.64]",
                                        "|MOV|R2,RZ",
                                        "|IADD3|R2,R2,0x1,RZ",
                                        "|ISETP.GE.AND|P0,PT,R2,0x9,PT",
                                        "|FSETP.GT.AND|P1,PT,R1,RZ,PT",
                                        "@!P0|BRA|P1,0x20",
                                        "@!P0|BRA|0x20",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {10, 10, 100, 100, 100, 100, 50, 10};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    assert_true(guard_differs(&m.s.c, &m.s.c.parts[0], 5));
    assert_false(guard_differs(&m.s.c, &m.s.c.parts[0], 6));
    machine_end(&m);
}

#define DIVISION(divisor)                                                                               \
    "|MUFU.RCP|R1," divisor, "|FCHK|P0,R2," divisor, "|FFMA|R3,-" divisor ",R1,1", "|FFMA|R3,R1,R3,R1", \
        "|FFMA|R4,R3,R2,RZ", "|FFMA|R5,-" divisor ",R4,R2", "|FFMA|R3,R3,R5,R4"

static f64 saved_of_divisions(const char *const *lines) {
    static const u32 issued[32] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
                                   100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "fast-math");
    f64 special = hit ? hit->change.relief[RESOURCE_XU] / m.s.c.load.busy[RESOURCE_XU] : -1;
    machine_end(&m);
    return special;
}

// Fast divisions by the same number share its reciprocal: of four operations of the special function unit one is left,
// else two.
static void divisors_are_shared(void **state) {
    (void)state;
    static const char *const same[] = {
        "|LDC|R8,c[0x0][0x210]", "|LDC|R2,c[0x0][0x214]", DIVISION("R8"), DIVISION("R8"), "|EXIT|", NULL};
    static const char *const others[] = {
        "|LDC|R8,c[0x0][0x210]", "|LDC|R9,c[0x0][0x214]", DIVISION("R8"), DIVISION("R9"), "|EXIT|", NULL};
    assert_near(saved_of_divisions(same), 0.75);
    assert_near(saved_of_divisions(others), 0.5);
}

// With the check go the branch by which it is left and the place where its ways meet, behind which warps wait.
static void checks_and_their_ways_go(void **state) {
    (void)state;
    static const char *const lines[] = {
        "|LDC|R8,c[0x0][0x210]", "|BSSY|B0,0xc0", DIVISION("R8"),   "@!P0|BRA|0xc0", "|MOV|R3,R2",
        "|FMUL|R3,R3,R2",        "|BSYNC|B0",     "|FADD|R9,R3,R2", "|EXIT|",        NULL};
    static const u32 issued[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 0, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    subject_stall(&m.s.subject, 13, STALL_BRANCH_RESOLVING, 900);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "fast-math");
    assert_non_null(hit);
    assert_true(hit->change.stalls > 800);
    machine_end(&m);
}

// Of a division in double precision that becomes one of floats five of eight steps stay, of the tests of its range
// nothing, and the special function unit has one operation more: its own check. Of conversions nothing stays.
static void divisions_of_floats_take_fewer_steps(void **state) {
    (void)state;
    static const char *const lines[] = {"|LDC|R0,c[0x0][0x210]",
                                        "|F2F.F64.F32|R2,R0",
                                        "|MUFU.RCP64H|R5,R3",
                                        "|DFMA|R6,-R2,R4,1",
                                        "|FSETP.GEU.AND|P1,PT,|R9|,6.5827683646048100446e-37,PT",
                                        "|DFMA|R6,R6,R6,R6",
                                        "|DFMA|R6,R4,R6,R4",
                                        "|DFMA|R4,-R2,R6,1",
                                        "|DFMA|R4,R6,R4,R6",
                                        "|DMUL|R8,R10,R4",
                                        "|DFMA|R6,-R2,R8,R10",
                                        "|DFMA|R8,R4,R6,R8",
                                        "|FFMA|R4,RZ,R3,R9",
                                        "|FSETP.GT.AND|P0,PT,|R4|,1.469367938527859385e-39,PT",
                                        "|F2F.F32.F64|R0,R8",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    Machine m;
    machine_begin(&m, lines, issued);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "wrong-type");
    assert_non_null(hit);
    assert_near(hit->change.issues / 100, 8 - 5 + 3 - 1 + 2);
    machine_end(&m);
}

// As ptxas 13.0 has it for a double: pairs of registers, moved for the next turn; and for the largest float, where what
// is swapped in stays.
static void atomics_made_of_compare_and_swap(void **state) {
    (void)state;
    static const char *const sum[] = {"|LDG.E.64|R6,desc[UR4][R2.64]",
                                      "|DADD|R8,R6,R10",
                                      "|ATOMG.E.CAS.64.STRONG.GPU|PT,R8,[R2],R6,R8",
                                      "|ISETP.NE.U32.AND|P0,PT,R8,R6,PT",
                                      "|ISETP.NE.AND.EX|P0,PT,R9,R7,PT,P0",
                                      "|MOV|R6,R8",
                                      "|MOV|R7,R9",
                                      "@P0|BRA|0x10",
                                      "|EXIT|",
                                      NULL};
    static const char *const most[] = {"|LDG.E|R6,desc[UR4][R2.64]",
                                       "|FSETP.GE.AND|P1,PT,R6,R10,PT",
                                       "@P1|BRA|0x70",
                                       "|ATOMG.E.CAS.STRONG.GPU|PT,R8,[R2],R6,R10",
                                       "|ISETP.NE.AND|P0,PT,R8,R6,PT",
                                       "|MOV|R6,R8",
                                       "@P0|BRA|0x10",
                                       "|EXIT|",
                                       NULL};
    static const u32 issued[] = {100, 900, 900, 900, 900, 900, 900, 900, 100};
    Machine m;
    machine_begin(&m, sum, issued);
    subject_stall(&m.s.subject, 3, STALL_LONG_SCOREBOARD, 9000);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "native-atomic");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, "Use atomicAdd in"));
    machine_end(&m);
    machine_begin(&m, most, issued);
    subject_stall(&m.s.subject, 4, STALL_LONG_SCOREBOARD, 9000);
    sampled_end(&m.s);
    hit = ask(&m.s, "native-atomic");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, "Use atomicMin or atomicMax of the bits in"));
    machine_end(&m);
}

// The multipliers are taken twice as long by a product of which the upper word is wanted.
static void upper_words_take_the_multipliers_longer(void **state) {
    (void)state;
    static const GpuModel gpu = {.sms = 100, .warp_schedulers = 4, .fmaheavy_interval = 2, .wide_interval = 4};
    static const char *const lines[] = {"|IMAD|R1,R2,R3,R4",
                                        "|IMAD.HI.U32|R5,R2,R3,RZ",
                                        "|IMAD.WIDE|R6,R2,0x4,R8",
                                        "|STG.E|desc[UR4][R6.64],R1",
                                        "|EXIT|",
                                        NULL};
    Machine m;
    machine_begin(&m, lines, NULL);
    m.s.subject.view.gpu = &gpu;
    sampled_end(&m.s);
    const CaseInsn *insns = m.s.c.parts[0].insns;
    f64 one = insns[0].use[RESOURCE_FMAHEAVY];
    assert_true(one > 0);
    assert_near(insns[1].use[RESOURCE_FMAHEAVY] / one, 2);
    assert_near(insns[2].use[RESOURCE_FMAHEAVY] / one, 2);
    machine_end(&m);
}

// --- functions that are called ---------------------------------------------------------------------------------------
// A loop from 0x30 on that calls a function at 0xb0, which divides R4, or what `divisor` is, into one and multiplies.
#define CALLS(divisor)                                                                                             \
    (const char *const[]) {                                                                                        \
        "|LDC|R4,c[0x0][0x210]", "|MOV|R7,RZ", "|MOV|R9,RZ", "|I2FP.F32.S32|R5,R7", "|MOV|R14,0x60",               \
            "|CALL.REL.NOINC|0xb0", "|FADD|R9,R9,R6", "|IADD3|R7,R7,0x1,RZ", "|ISETP.LT.AND|P0,PT,R7,0x2000,PT",   \
            "@P0|BRA|0x30", "|EXIT|", "|MUFU.RCP|R2," divisor, "|FFMA|R3," divisor ",R2,-1", "|FFMA|R2,-R3,R2,R2", \
            "|FMUL|R6,R5,R2", "|RET.REL.NODEC|R14 0x0", NULL                                                       \
    }

// Instructions of the function that are not in the loop once it is inlined, of all that issue in it.
static f64 leaves_loop(const char *const *lines) {
    enum { LOOP = 3, END = 10, FUNCTION = 11 };
    u32 issued[16];
    Machine m;
    for (u32 i = 0; i < WL_COUNT(issued); i++) issued[i] = i < LOOP || i == END ? 1 : 1000;
    machine_begin(&m, lines, issued);
    SassRoutine routine = {.name = "$f$helper", .offset = FUNCTION * 16};
    assert_int_equal(vec_push(&m.module.routines, routine), STATUS_OK);
    m.module.functions.data[0].first_routine = 0, m.module.functions.data[0].routine_count = 1;
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "function-inlining");
    assert_non_null(hit);
    f64 share = 0;
    for (u32 i = 0; i < hit->facts.len; i++)
        if (!strcmp(hit->facts.data[i].name, "invariant_share")) share = hit->facts.data[i].value / 100;
    f64 insns = share * m.s.c.load.issued / 1000;
    machine_end(&m);
    return insns;
}

// The reciprocal of an argument is the same in all turns, three of the function's instructions; that of the counter
// not.
static void what_functions_make_of_the_same_leaves_the_loop(void **state) {
    (void)state;
    assert_true(fabs(leaves_loop(CALLS("R4")) - 3) < 0.05);
    assert_true(fabs(leaves_loop(CALLS("R5"))) < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_made_of_compare_and_swap),
        cmocka_unit_test(samples_behind_a_jump_are_where_it_went),
        cmocka_unit_test(groups_of_lanes_meet),
        cmocka_unit_test(turns_of_a_loop_are_no_meetings),
        cmocka_unit_test(a_jump_has_two_conditions),
        cmocka_unit_test(divisors_are_shared),
        cmocka_unit_test(checks_and_their_ways_go),
        cmocka_unit_test(divisions_of_floats_take_fewer_steps),
        cmocka_unit_test(upper_words_take_the_multipliers_longer),
        cmocka_unit_test(what_functions_make_of_the_same_leaves_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
