// SPDX-License-Identifier: Apache-2.0
// wrong-type on integers of 64 bits, in machine code of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// x / 400, as nvcc 13.0 makes it for sm_90; `load` brings R6, and R7 unless `sign` makes that of it.
#define QUOTIENT(load, sign)                                                                                         \
    (const char *const[]) {                                                                                          \
        load, sign, "|IMAD.WIDE.U32|R14,R7,0x70a3d70b,RZ", "|IMAD.WIDE.U32|R18,P0,R6,-0x5c28f5c3,R14",               \
            "|IMAD.WIDE.U32|R14,R6,0x70a3d70b,RZ", "|IADD3|R20,P1,R6,R19,RZ", "|IADD3.X|R21,RZ,R7,RZ,P0,P1",         \
            "|IADD3|RZ,P0,R15,R18,RZ", "|ISETP.LT.AND|P1,PT,R7,RZ,PT", "|IMAD.WIDE.U32.X|R14,R7,-0x5c28f5c3,R20,P0", \
            "|IADD3|R17,P0,-R6,R14,RZ", "|IMAD.X|R14,R15,0x1,~R7,P0", "|IADD3|R18,P0,R17,-0x70a3d70b,RZ",            \
            "|IADD3.X|R9,R14,0x5c28f5c2,RZ,P0,!PT", "|SEL|R17,R18,R17,P1", "|SEL|R14,R9,R14,P1",                     \
            "|SHF.R.S64|R17,R17,0x8,R14", "|LEA.HI|R17,P0,R14,R17,RZ,0x1", "|STG.E|desc[UR4][R2.64],R17", "|EXIT|",  \
            NULL                                                                                                     \
    }

// Instructions that are not needed, -1: nothing is said.
static f64 spared(const char *const *lines) {
    Machine m;
    machine_begin(&m, lines, NULL);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "wrong-type");
    f64 gone = hit ? hit->change.issues / 10 : -1;
    machine_end(&m);
    return gone;
}

// Of an int the sign, three of four products, their carries and all upper words go; of what is loaded as a long long,
// nothing up to the quotient.
static void divisions_of_64_bits_are_for_numbers_that_need_them(void **state) {
    (void)state;
    assert_near(spared(QUOTIENT("|LDG.E|R6,desc[UR4][R2.64]", "|SHF.R.S32.HI|R7,RZ,0x1f,R6")), 11);
    assert_near(spared(QUOTIENT("|LDG.E.64|R6,desc[UR4][R2.64]", "|NOP|")), -1);
}

// CTAs that an SM holds after the change, over those before, of so many registers; 0: as many.
static f64 more_ctas(u32 registers, u32 before) {
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .max_ctas_per_sm = 32,
                                 .max_threads_per_sm = 2048,
                                 .registers_per_sm = 65536,
                                 .registers_per_cta = 65536,
                                 .register_unit = 256,
                                 .shared_per_sm = 233472,
                                 .shared_per_cta_optin = 232448,
                                 .shared_unit = 128};
    Machine m;
    machine_begin(&m, QUOTIENT("|LDG.E|R6,desc[UR4][R2.64]", "|SHF.R.S32.HI|R7,RZ,0x1f,R6"), NULL);
    KernelView *view = &m.s.subject.view;
    view->gpu = &gpu;
    view->occupancy = (ViewOccupancy){.ctas_per_sm = before,
                                      .warps_per_cta = 8,
                                      .warps_per_sm = before * 8,
                                      .waves = 4,
                                      .limits = 1u << LIMIT_REGISTERS};
    m.s.launch.time.registers = registers;
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "wrong-type");
    f64 more = hit ? hit->change.warps : -1;
    machine_end(&m);
    return more;
}

// Numbers of half as many bits take 0.7 times the registers: of 34 there are 24 left, with which two more CTAs of 256
// threads fit; of 100 there are 70, and one more fits.
static void narrow_numbers_take_fewer_registers(void **state) {
    (void)state;
    assert_near(more_ctas(34, 6), 8.0 / 6);
    assert_near(more_ctas(100, 2), 3.0 / 2);
    assert_near(more_ctas(64, 4), 5.0 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(divisions_of_64_bits_are_for_numbers_that_need_them),
                                       cmocka_unit_test(narrow_numbers_take_fewer_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
