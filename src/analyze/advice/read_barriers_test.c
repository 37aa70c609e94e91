// SPDX-License-Identifier: Apache-2.0
// Who is blamed for waits at the scoreboards of machine code, of which there are only samples, made up, and what can be
// hidden of them.
#include <math.h>

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

// A sum overwrites the address of a load, which is read long before the data of the one ahead of it arrive.
static void data_come_after_addresses_are_read(void **state) {
    (void)state;
    enum { LOADED = 0, READER = 1, SUM = 3 };
    static const char *const lines[] = {"|LDG.E|R18,desc[UR4][R14.64]",
                                        "|LDG.E|R19,desc[UR4][R16.64]",
                                        "|MOV|R3,RZ",
                                        "|FADD|R17,R18,R9",
                                        "|FADD|R20,R19,R17",
                                        "|EXIT|",
                                        NULL};
    static const u32 issued[] = {100, 100, 100, 100, 100, 100};
    static const GpuModel gpu = {.l1_latency = 30,
                                 .l2_latency = 200,
                                 .dram_latency = 300,
                                 .warp_schedulers = 4,
                                 .store_drain = 31,
                                 .exit_latency = 10};
    FlowIssue issue[WL_COUNT(issued)];
    for (u32 pc = 0; pc < WL_COUNT(issued); pc++) issue[pc] = (FlowIssue){1, NONE, NONE, 0, 0, false};
    issue[LOADED].write_barrier = DATA;
    issue[READER].read_barrier = SOURCES;
    issue[SUM].wait_mask = 1u << DATA | 1u << SOURCES;
    Machine m;
    machine_begin(&m, lines, issued);
    m.s.subject.view.gpu = &gpu;
    m.code->issue = issue;
    subject_stall(&m.s.subject, SUM, STALL_LONG_SCOREBOARD, 50000);
    sampled_end(&m.s);
    const Blame *blame = m.s.c.parts[0].blame;
    f64 of_data = 0, all = 0;
    for (u32 i = 0; i < blame->edge_count; i++) {
        bool here = blame->edges[i].use == SUM && blame->edges[i].reason == STALL_LONG_SCOREBOARD;
        all += here ? blame->edges[i].samples : 0;
        of_data += here && blame->edges[i].def == LOADED ? blame->edges[i].samples : 0;
    }
    assert_true(all > 49000 && of_data > 0.8 * all);
    machine_end(&m);
}

// A loop whose turns are two of the source's, in each of which `first` and `second` stand before a sum.
#define TWO_TURNS(first, second)                                                                                   \
    {                                                                                                              \
        "|LDG.E|R6,desc[UR4][R4.64]", "|FFMA|R8,R6,R6,R8", first, "|FADD|R8,R8,R9", "|STG.E|desc[UR4][R10.64],R8", \
            "|LDG.E|R7,desc[UR4][R4.64+0x1000]", "|FFMA|R8,R7,R7,R8", second, "|FADD|R8,R8,R9",                    \
            "|STG.E|desc[UR4][R10.64],R8", "|IADD3|R4,P2,R4,0x2000,RZ", "|IADD3.X|R5,RZ,R5,RZ,P2,!PT",             \
            "|IADD3|R2,R2,0x2,RZ", "|ISETP.LT.AND|P1,PT,R2,R3,PT", "@P1|BRA|0x0", "|EXIT|", NULL                   \
    }

// Part of the loop's samples that is hidden when its loads start a turn earlier, where 2000 wait for them and 1500
// issue.
static f64 hidden_of_two_turns(const char *const *lines) {
    enum { LOADED = 1, LOADED_NEXT = 6 };
    static const u32 issued[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 0};
    Machine m;
    machine_begin(&m, lines, issued);
    subject_stall(&m.s.subject, LOADED, STALL_LONG_SCOREBOARD, 1000);
    subject_stall(&m.s.subject, LOADED_NEXT, STALL_LONG_SCOREBOARD, 1000);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "code-reordering");
    assert_non_null(hit);
    const CaseLoop *loop = &m.s.c.parts[0].loops[0];
    f64 part = fmin(hit->change.hidden, hit->change.scope_active) / (loop->active + loop->stalled);
    machine_end(&m);
    return part;
}

// Copies of a load have one scoreboard: where ways keep each behind the turn before, a warp waits every second turn,
// for the load that it has just started. In one sequence all loads start first.
static void copies_of_a_load_share_a_scoreboard(void **state) {
    (void)state;
    static const char *const ways[] = TWO_TURNS("@P0|BRA|0x40", "@P0|BRA|0x90");
    static const char *const sequence[] = TWO_TURNS("|FADD|R8,R8,R8", "|FADD|R8,R8,R8");
    assert_float_equal(hidden_of_two_turns(ways), 1000.0 / 3500, 1e-6);
    assert_float_equal(hidden_of_two_turns(sequence), 0.5, 0.02);
}

// A turn that waits for its load and then works, in `calls` of 100 turns by way of a call that ends the overlap: of the
// 1,000 samples of work behind that, so many overlap the next turn's load.
static f64 worked_beside_load(u32 calls) {
    enum { USED = 1, WAY = 2, CALL = 3, BEHIND = 4 };
    static const char *const lines[] = {"|LDG.E|R6,desc[UR4][R4.64]",
                                        "|FFMA|R8,R6,R6,R8",
                                        "@P0|BRA|0x40",
                                        "|CALL.REL.NOINC|0xc0",
                                        "|FADD|R8,R8,R9",
                                        "|STG.E|desc[UR4][R10.64],R8",
                                        "|IADD3|R4,P2,R4,0x2000,RZ",
                                        "|IADD3.X|R5,RZ,R5,RZ,P2,!PT",
                                        "|IADD3|R2,R2,0x2,RZ",
                                        "|ISETP.LT.AND|P1,PT,R2,R3,PT",
                                        "@P1|BRA|0x0",
                                        "|EXIT|",
                                        "|FMUL|R8,R8,R8",
                                        "|RET.REL.NODEC|R20,0x0",
                                        NULL};
    const u32 issued[] = {100, 100, 100, calls, 100, 100, 100, 100, 100, 100, 100, 0, calls, calls};
    Machine m;
    machine_begin(&m, lines, issued);
    subject_stall(&m.s.subject, USED, STALL_LONG_SCOREBOARD, 20000);
    subject_stall(&m.s.subject, BEHIND, STALL_WAIT, 1000);
    sampled_end(&m.s);
    const Hit *hit = ask(&m.s, "code-reordering");
    f64 work = hit ? hit->change.scope_active : 0;
    machine_end(&m);
    return work;
}

static void a_call_waits_for_what_is_under_way(void **state) {
    (void)state;
    f64 never = worked_beside_load(0), half = worked_beside_load(50), always = worked_beside_load(100);
    assert_true(never > 1000);
    assert_float_equal(never - half, 750, 1);  // half of the wait and of what issues behind
    assert_float_equal(never - always, 1600, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_call_waits_for_what_is_under_way),
                                       cmocka_unit_test(data_come_after_addresses_are_read),
                                       cmocka_unit_test(what_overwrites_an_address_has_not_waited_for_the_data),
                                       cmocka_unit_test(copies_of_a_load_share_a_scoreboard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
