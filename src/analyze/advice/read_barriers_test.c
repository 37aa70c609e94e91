// SPDX-License-Identifier: Apache-2.0
// Who is blamed for waits at the scoreboards of machine code, of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

enum { NONE = 7, DATA = 5, SOURCES = 1, FIRST = 0, USE = 2, LOAD = 3, MOVED = 4 };

// A load ahead of a loop and the same at the end of each turn raise one barrier, which the next turn begins by waiting
// for. That the turn's end has waited until the load's address was read says nothing of its data.
static void what_overwrites_an_address_has_not_waited_for_the_data(void **state) {
    (void)state;
    static const char *const lines[] = {"|LDG.E|R18,desc[UR4][R14.64]",
                                        "|MOV|R3,RZ",
                                        "|FADD|R25,R6,R9",
                                        "|LDG.E|R18,desc[UR4][R14.64]",
                                        "|MOV|R14,R12",
                                        "@P0|BRA|0x20",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {10, 10, 1000, 1000, 1000, 1000, 10};
    FlowIssue issue[WL_COUNT(issued)];
    for (u32 pc = 0; pc < WL_COUNT(issued); pc++) issue[pc] = (FlowIssue){1, NONE, NONE, 0, 0, false};
    issue[FIRST].write_barrier = issue[LOAD].write_barrier = DATA;
    issue[LOAD].read_barrier = SOURCES;
    issue[USE].wait_mask = 1u << DATA;
    issue[MOVED].wait_mask = 1u << SOURCES;
    Machine m;
    machine_begin(&m, lines, issued);
    m.code->issue = issue;
    subject_stall(&m.s.subject, USE, STALL_LONG_SCOREBOARD, 50000);
    sampled_end(&m.s);
    const Blame *blame = m.s.c.parts[0].blame;
    f64 of_turn = 0;
    for (u32 i = 0; i < blame->edge_count; i++)
        if (blame->edges[i].use == USE && blame->edges[i].def == LOAD) of_turn += blame->edges[i].samples;
    assert_true(of_turn > 45000);
    machine_end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_overwrites_an_address_has_not_waited_for_the_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
