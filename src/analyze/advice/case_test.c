// SPDX-License-Identifier: Apache-2.0
// Kernels in machine code of which there are only samples, made up: how often instructions ran.
#include "analyze/advice/sampled_testing.h"
#include "flow/flow_testing.h"

typedef struct Machine {
    SassModule module;
    FlowCode *code;
    Sampled s;
} Machine;

// Lines as of sass_of_lines(), and for each how often it was caught issuing.
static void machine_begin(Machine *m, const char *const *lines, const u32 *issued) {
    *m = (Machine){0};
    Subject *subject = &m->s.subject;
    sass_of_lines(&m->module, lines);
    FlowSassSource source = {.module = &m->module, .is_entry = true, .param_base = 0x210};
    assert_int_equal(flow_from_sass(&source, &subject->arena, &m->code), STATUS_OK);
    subject_init(subject, VIEW_SASS, m->code);
    sampled_launch(&m->s);
    for (u32 pc = 0; pc < m->code->insn_count; pc++) {
        subject_stall(subject, pc, STALL_SELECTED, issued[pc]);
        subject->places[pc].line = 7;
    }
}

static void machine_end(Machine *m) {
    forget(&m->s);
    sass_free(&m->module);
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_behind_a_jump_are_where_it_went),
        cmocka_unit_test(groups_of_lanes_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
