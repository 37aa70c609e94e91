// SPDX-License-Identifier: Apache-2.0
// What rules expect where memory is what warps wait for: which loads start together after a change, behind which unit
// they queue, which lanes share sectors.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static const GpuModel gpu = {.sm_version = 90,
                             .sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 2000,
                             .noc_clock_mhz = 1600,
                             .l2_slices = 50,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300};

// Each instruction was caught issuing ten times; what comes after a load of global memory waited for it.
static void begin(Sampled *s, const char *body) {
    KernelView *view = sampled_begin(s, body);
    view->gpu = &gpu;
    view->launches.total_ns = 100000;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, 10000);
    }
    view->total_latency = view->total * 9 / 10;
}

static void sample(Sampled *s, const char *body) {
    begin(s, body);
    sampled_end(s);
}

// The nth access that does not load an argument.
static CaseInsn *access_of(Sampled *s, u32 nth) {
    CasePart *part = &s->c.parts[0];
    return &part->insns[part->accesses[nth].pc];
}

// --- loads that start together -------------------------------------------------------------------------------------
// A sum that each turn stores, of a row that it goes along; `between` the load and the sum.
#define SUM_IN_MEMORY(between)                                                            \
    BEGIN "mov.u32 %r6, 0; mov.u64 %rd4, %rd3;\n"                                         \
          "more: ld.global.f32 %f2, [%rd3]; ld.global.f32 %f1, [%rd4+4096];\n" between    \
          "add.f32 %f2, %f2, %f1; st.global.f32 [%rd3], %f2; add.s64 %rd4, %rd4, 4096;\n" \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;"

static f64 freed(const char *body, ViewCode kind) {
    Sampled s;
    sample(&s, body);
    s.subject.view.kind = kind;
    ask(&s, "redundant-loads");
    const Hit *hit = s.c.hits.data[s.c.hits.len - 1];
    assert_non_null(strstr(hit->what, "Keep what is stored"));
    assert_string_equal(hit->also, "register-reuse");
    f64 gone = 0;
    for (u32 i = 0; i < hit->spots.len; i++)
        if (hit->spots.data[i].def == s.c.parts[0].accesses[1].pc) gone += hit->spots.data[i].samples;
    forget(&s);
    return gone;
}

// Without the store the next turns' loads could start ahead, if no way around something lies between; what is one in
// PTX may be a guard in machine code.
static void loads_stay_behind_ways_that_meet(void **state) {
    (void)state;
    static const char *ways =
        SUM_IN_MEMORY("setp.lt.f32 %p2, %f1, 0f00000000; @%p2 bra less; mul.f32 %f1, %f1, %f1; less:\n");
    assert_true(freed(SUM_IN_MEMORY(""), VIEW_SASS) > 1000);
    assert_near(freed(ways, VIEW_SASS), 0);
    assert_true(freed(ways, VIEW_PTX) > 1000);
}

// A sum that each turn loads behind the element of a row that it adds, and stores; `between` the two loads.
#define SUM_BEHIND(between)                                                                     \
    BEGIN "mov.u32 %r6, 0; mov.u64 %rd4, %rd3; more: ld.global.f32 %f1, [%rd4+4096];\n" between \
          "ld.global.f32 %f2, [%rd3]; add.f32 %f2, %f2, %f1; st.global.f32 [%rd3], %f2;\n"      \
          "add.s64 %rd4, %rd4, 4096; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;"

// Waits for the sum that go when it is kept.
static f64 gone_of_sum(const char *body) {
    Sampled s;
    sample(&s, body);
    ask(&s, "redundant-loads");
    const Hit *hit = s.c.hits.data[s.c.hits.len - 1];
    assert_non_null(strstr(hit->what, "Keep what is stored"));
    f64 gone = 0;
    for (u32 i = 0; i < hit->spots.len; i++)
        if (hit->spots.data[i].def == s.c.parts[0].accesses[1].pc) gone += hit->spots.data[i].samples;
    forget(&s);
    return gone;
}

// Who waits for the element as well waits as long without the sum; not who has waited for it already.
static void what_is_there_is_waited_for_no_more(void **state) {
    (void)state;
    assert_near(gone_of_sum(SUM_BEHIND("")), 0);
    assert_true(gone_of_sum(SUM_BEHIND("mul.f32 %f1, %f1, %f1;\n")) > 1000);
}

// Each turn takes the element that a number names, stores a product elsewhere and does `step`.
#define NAMED(step)                                                                                 \
    BEGIN "mov.u32 %r6, 0; mov.u64 %rd4, %rd3; add.s64 %rd7, %rd3, 409600;\n"                       \
          "more: ld.global.u32 %r7, [%rd4]; mul.wide.s32 %rd5, %r7, 4; add.s64 %rd6, %rd1, %rd5;\n" \
          "ld.global.f32 %f1, [%rd6]; mul.f32 %f2, %f1, %f1; st.global.f32 [%rd7], %f2; " step "\n" \
          "add.s64 %rd7, %rd7, 409600; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;"

// Loads that are said to read the same words again.
static u32 read_again(const char *body) {
    Sampled s;
    u32 count = 0;
    sample(&s, body);
    ask(&s, "redundant-loads");
    for (u32 i = 0; i < s.c.hits.len; i++) {
        const Hit *hit = s.c.hits.data[i];
        if (strstr(hit->what, "Keep the value loaded")) count = (u32)hit->facts.data[0].value;
    }
    forget(&s);
    return count;
}

// What a word names is the same in all turns if the word is: not where turns go on to other words, or store it.
static void what_the_same_word_names_is_the_same(void **state) {
    (void)state;
    assert_int_equal(read_again(NAMED("")), 2);
    assert_int_equal(read_again(NAMED("add.s64 %rd4, %rd4, 4096;")), 0);
    assert_int_equal(read_again(NAMED("add.s32 %r8, %r7, 1; st.global.u32 [%rd4], %r8;")), 0);
}

static void some_eight_loads_are_under_way(void **state) {
    (void)state;
    assert_near(loop_turns_together(1, 8), 8);
    assert_near(loop_turns_together(1, 4), 4);
    assert_near(loop_turns_together(4, 8), 2);
    assert_near(loop_turns_together(5, 4), 1.6);
    assert_near(loop_turns_together(20, 8), 1);
}

// --- what unrolling saves --------------------------------------------------------------------------------------------
// b2 = b1; b1 = b1 * t + b2, so many turns; `copies` hands values on.
#define RECURRENCE(end, copies)                                                 \
    BEGIN "mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.u32 %r6, 0;\n" \
          "more: fma.rn.f32 %f3, %f1, %f1, %f2; " copies " mov.f32 %f1, %f3;\n" \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, " end "; @%p1 bra more; st.global.f32 [%rd3], %f1; ret;"

static f64 issues_saved(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "loop-unrolling");
    assert_non_null(hit);
    f64 saved = hit->change.issues / 10;
    forget(&s);
    return saved;
}

// Counter, comparison and branch are left once where not all turns are one; where their number is in the code none is.
static void whole_loops_do_not_count(void **state) {
    (void)state;
    f64 part = issues_saved(RECURRENCE("%r5", "")), whole = issues_saved(RECURRENCE("13", ""));
    assert_true(part > 0);
    assert_true(whole / part > 8.0 / 7 - 0.01);
}

// Values that the next turn takes over have registers of their own where turns are one.
static void copies_for_the_next_turn_go(void **state) {
    (void)state;
    f64 one = issues_saved(RECURRENCE("13", "")), two = issues_saved(RECURRENCE("13", "mov.b32 %f2, %f1;"));
    assert_near(two - one, 1);
}

// --- where lanes go ------------------------------------------------------------------------------------------------
// A row for each lane, the last one for those beyond it, and a store to another array of such rows.
#define ROWS                                                                                  \
    BEGIN "sub.s32 %r6, %r5, 1; min.s32 %r7, %r4, %r6; mul.lo.s32 %r8, %r7, %r5;\n"           \
          "mul.wide.s32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n" \
          "mul.lo.s32 %r9, %r4, %r5; mul.wide.s32 %rd6, %r9, 4; ld.param.u64 %rd7, [p];\n"    \
          "add.s64 %rd8, %rd7, %rd6; st.global.f32 [%rd8+1048576], %f1; ret;"

// What lanes keep within the rows is as far apart as the rows are, whose length the launch decides.
static void clamped_rows_have_sectors_of_their_own(void **state) {
    (void)state;
    Sampled s;
    sample(&s, ROWS);
    const CaseAccess *load = &s.c.parts[0].accesses[0];
    assert_int_equal(load->known, ACCESS_STATIC);
    assert_true(load->sectors > 28 && load->fewest <= 4);
    forget(&s);
}

// Who lets lanes go along the rows of one array does so in all of them, and each request is fewer transactions.
static void rows_of_all_arrays_are_one_change(void **state) {
    (void)state;
    Sampled s;
    sample(&s, ROWS);
    assert_non_null(ask(&s, "global-coalescing"));
    assert_int_equal(s.c.hits.len, 1);
    assert_string_equal(((const Hit *)s.c.hits.data[0])->also, "memory-transactions");
    forget(&s);
}

// --- pointers and places ---------------------------------------------------------------------------------------------
// A letter, and the row that the state has, which is a table's: both are waited for at the sum of the two.
#define STATES                                                                                      \
    BEGIN "mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u64 %rd4, %rd3;\n"                                   \
          "more: ld.global.u32 %r8, [%rd4]; mul.wide.s32 %rd5, %r7, 8; add.s64 %rd6, %rd1, %rd5;\n" \
          "ld.global.u64 %rd7, [%rd6]; mad.wide.u32 %rd9, %r8, 1, %rd7;\n"                          \
          "ld.global.u32 %r7, [%rd9]; add.s64 %rd4, %rd4, 65536; add.s32 %r6, %r6, 1;\n"            \
          "setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; st.shared.u32 [tile], %r7; ret;"

static f64 waits_for_pointer(f64 letters_from_dram) {
    Sampled s;
    const FlowInsn *insns;
    begin(&s, STATES);
    insns = s.subject.view.flow.code->insns;
    u32 pointer = 0;
    while (insns[pointer].access_bytes != 8 || insns[pointer].space != SPACE_GLOBAL) pointer++;
    subject_stall(&s.subject, pointer + 1, STALL_LONG_SCOREBOARD, 50000);
    sampled_end(&s);
    access_of(&s, 0)->use[RESOURCE_DRAM] = letters_from_dram;
    const Hit *hit = ask(&s, "indirect-addressing");
    f64 gone = 0;
    for (u32 i = 0; hit && i < hit->spots.len; i++)
        if (hit->spots.data[i].use == pointer + 1) gone += hit->spots.data[i].samples;
    forget(&s);
    return gone;
}

// Of two loads that are waited for at once the one that DRAM has to serve is late, and stays.
static void pointers_are_there_before_what_dram_serves(void **state) {
    (void)state;
    assert_true(waits_for_pointer(0) > 1000);
    assert_near(waits_for_pointer(0.3), 0);
}

// A number for each thread, and the element that it names.
#define NEIGHBOURS                                                                            \
    BEGIN "ld.global.u32 %r6, [%rd3]; mul.wide.s32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f1, %f1; st.shared.f32 [tile], %f2; ret;"

static bool computes_neighbour(f64 dram) {
    Sampled s;
    sample(&s, NEIGHBOURS);
    s.c.load.busy[RESOURCE_DRAM] = dram;
    access_of(&s, 0)->use[RESOURCE_DRAM] = dram / 2;
    const Hit *hit = ask(&s, "indirect-addressing");
    bool found = hit && strstr(hit->what, "Compute the address") && hit->doubtful;
    forget(&s);
    return found;
}

// Places that fill DRAM while what they lead to does not lie near each other: they could be computed. Where DRAM has
// time what they lead to may lie anywhere.
static void places_of_neighbours_could_be_computed(void **state) {
    (void)state;
    assert_true(computes_neighbour(0.9));
    assert_false(computes_neighbour(0.3));
}

// The element is a neighbouring lane's neighbour then: the L1 takes a line for the warp, no more 32 where data sends
// it.
static void what_lies_nearby_takes_the_l1_a_line(void **state) {
    (void)state;
    Sampled s;
    sample(&s, NEIGHBOURS);
    s.c.load.busy[RESOURCE_DRAM] = 0.9;
    access_of(&s, 0)->use[RESOURCE_DRAM] = 0.4;
    assert_true(s.c.parts[0].accesses[1].gathered);
    f64 place = access_of(&s, 0)->use[RESOURCE_LSU], element = access_of(&s, 1)->use[RESOURCE_LSU];
    const Hit *hit = ask(&s, "indirect-addressing");
    assert_non_null(hit);
    assert_near(hit->change.relief[RESOURCE_LSU], place + element * (1 - 1 / 11.1));
    forget(&s);
}

// As of examples/advice/held_out_39/honeycombs.cu: of two arrays, and only where there is a neighbour.
#define NEIGHBOURS_IF(compared)                                                                              \
    BEGIN "ld.global.u32 %r6, [%rd3]; setp.ge.s32 %p1, %r6, " compared "; mul.wide.s32 %rd4, %r6, 4;\n"      \
          "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1;\n" \
          "@%p1 ld.global.f32 %f1, [%rd5]; @%p1 ld.global.f32 %f2, [%rd6]; add.f32 %f2, %f1, %f2;\n"         \
          "st.shared.f32 [tile], %f2; ret;"

static f64 relief_of_neighbours(const char *text) {
    Sampled s;
    sample(&s, text);
    s.c.load.busy[RESOURCE_DRAM] = 0.9;
    access_of(&s, 0)->use[RESOURCE_DRAM] = 0.4;
    f64 elements = access_of(&s, 1)->use[RESOURCE_LSU] + access_of(&s, 2)->use[RESOURCE_LSU];
    const Hit *hit = ask(&s, "indirect-addressing");
    f64 relief = hit ? (hit->change.relief[RESOURCE_LSU] - access_of(&s, 0)->use[RESOURCE_LSU]) / elements : 0;
    forget(&s);
    return relief;
}

// What is compared with a constant says whether there is a neighbour; with a number of the program it is data.
static void places_may_be_none(void **state) {
    (void)state;
    assert_near(relief_of_neighbours(NEIGHBOURS_IF("0")), 1 - 1 / 11.1);
    assert_near(relief_of_neighbours(NEIGHBOURS_IF("%r5")), 0);
}

// Of bytes machine code makes the place's two words one by one.
static void places_of_bytes_are_made_word_by_word(void **state) {
    (void)state;
    static const char *const lines[] = {"|S2R|R0,SR_TID.X",
                                        "|LDC.64|R4,c[0x0][0x210]",
                                        "|IMAD.WIDE|R2,R0,0x4,R4",
                                        "|LDG.E.CONSTANT|R6,desc[UR4][R2.64]",
                                        "|IADD3|R8,P0,R6,UR6,RZ",
                                        "|LEA.HI.X.SX32|R9,R6,UR7,0x1,P0",
                                        "|LDG.E.U8.CONSTANT|R10,desc[UR4][R8.64]",
                                        "|IADD3|R11,R10,R10,RZ",
                                        "|STS|[R0],R11",
                                        "|EXIT|",
                                        NULL};
    Machine m;
    machine_begin(&m, lines, NULL);
    m.s.subject.view.gpu = &gpu;
    m.s.subject.view.launches.total_ns = 100000;
    sampled_end(&m.s);
    m.s.c.load.busy[RESOURCE_DRAM] = 0.9;
    access_of(&m.s, 0)->use[RESOURCE_DRAM] = 0.4;
    assert_true(m.s.c.parts[0].accesses[1].gathered);
    AffineAccess of_table = *m.s.c.parts[0].accesses[0].affine;
    of_table.base = 0;  // a pointer, as which lines by themselves do not tell it
    m.s.c.parts[0].accesses[0].affine = &of_table;
    f64 place = access_of(&m.s, 0)->use[RESOURCE_LSU], element = access_of(&m.s, 1)->use[RESOURCE_LSU];
    const Hit *hit = ask(&m.s, "indirect-addressing");
    assert_non_null(hit);
    assert_near(hit->change.relief[RESOURCE_LSU], place + element * (1 - 1 / 11.1));
    machine_end(&m);
}

// --- tables in shared memory ---------------------------------------------------------------------------------------
static f64 passes_of_table(u32 bytes) {
    Sampled s;
    begin(&s, BEGIN "ld.global.u32 %r6, [%rd3]; mov.u32 %r7, tile; mad.lo.s32 %r8, %r6, 4, %r7;\n"
                    "ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd3], %r9; ret;");
    s.subject.function.shared_bytes = bytes;
    sampled_end(&s);
    f64 passes = s.c.parts[0].accesses[1].passes;
    forget(&s);
    return passes;
}

// Lanes that go anywhere meet in a bank as far as there are several words in it.
static void small_tables_have_no_conflicts(void **state) {
    (void)state;
    assert_near(passes_of_table(64), 1);
    assert_near(passes_of_table(256), 2);
    assert_near(passes_of_table(4096), ACCESS_AT_RANDOM);
}

// --- queues ----------------------------------------------------------------------------------------------------------
// Two elements that data names, of which warps wait for the first only.
#define TWO_GATHERS                                                                                      \
    BEGIN "ld.global.v2.u32 {%r6, %r7}, [%rd3]; mul.wide.s32 %rd4, %r6, 4; mul.wide.s32 %rd5, %r7, 4;\n" \
          "add.s64 %rd6, %rd1, %rd4; add.s64 %rd7, %rd1, %rd5; ld.global.f32 %f1, [%rd6];\n"             \
          "add.f32 %f3, %f1, %f1; ld.global.f32 %f2, [%rd7]; mov.u32 %r8, 1;\n"                          \
          "add.f32 %f4, %f2, %f3; st.shared.f32 [tile], %f4; ret;"

// Loads that nobody waits for have their sectors from the L1: what keeps the L2 busy is the others.
static void the_l2_works_for_what_is_waited_for(void **state) {
    (void)state;
    Sampled s;
    KernelView *view = sampled_begin(&s, TWO_GATHERS);
    u32 first = 0;
    view->gpu = &gpu;
    view->launches.total_ns = 2000;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        bool load = view->flow.code->insns[pc].is_load && view->flow.code->insns[pc].space == SPACE_GLOBAL;
        if (load && view->flow.code->insns[pc].access_bytes == 4 && !first) first = pc;
    }
    subject_stall(&s.subject, first + 1, STALL_LONG_SCOREBOARD, 50000);
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    assert_true(access_of(&s, 1)->use[RESOURCE_L2] > 5 * access_of(&s, 2)->use[RESOURCE_L2]);
    forget(&s);
}

// An element that data names, waited for so long in each of the ten times that it was loaded.
static void sample_gather(Sampled *s, f64 cycles, u64 total_ns) {
    KernelView *view = sampled_begin(s, NEIGHBOURS);
    u32 gather = 0;
    view->gpu = &gpu;
    view->launches.total_ns = (f64)total_ns;
    view->occupancy.waves = 1;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) gather = pc;
    }
    subject_stall(&s->subject, gather, STALL_LONG_SCOREBOARD, (u64)(10 * cycles));
    view->total_latency = view->total * 9 / 10;
    sampled_end(s);
}

// A warp whose lanes go anywhere waits for the slowest of them. Where it waits less than for DRAM (530 cycles) all are
// in the L2, and what it waits longer than for that (230) is a line in front of it.
static void gathers_that_wait_less_than_for_dram_are_in_the_l2(void **state) {
    (void)state;
    Sampled s;
    sample_gather(&s, 2 * 460, 100000);  // a number and the element: one behind the other
    assert_true(s.c.gathers_l2);
    assert_float_equal(s.c.waiting, 0.5, 0.01);
    assert_int_equal(case_behind(&s.c, &s.c.parts[0], s.c.parts[0].accesses[1].pc), RESOURCE_L2);
    assert_true(s.c.load.queued[RESOURCE_L2] > 0.4 * s.c.stalls[STALL_LONG_SCOREBOARD]);
    forget(&s);
    sample_gather(&s, 2 * 600, 100000);
    assert_false(s.c.gathers_l2);
    assert_float_equal(s.c.waiting, 1 - 530.0 / 600, 0.01);
    forget(&s);
}

// Rows of the lanes' own, waited for so long each time: of that an idle L2 and DRAM take 530 cycles, which stay.
// `in_line`: what is left in queues of what waits there now.
static f64 coalesced(f64 cycles, f64 *in_line) {
    Sampled s;
    KernelView *view = sampled_begin(&s, ROWS);
    const u32 count = view->flow.code->insn_count;
    view->gpu = &gpu;
    view->launches.total_ns = 1000;
    for (u32 pc = 0; pc < count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, 10);
    subject_stall(&s.subject, count - 2, STALL_LONG_SCOREBOARD, (u64)(10 * cycles));  // at the store
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    assert_float_equal(s.c.parts[0].accesses[0].latency, cycles, 0.1 * cycles);
    s.c.fits_l2 = false;
    const Hit *hit = ask(&s, "global-coalescing");
    assert_non_null(hit);
    f64 gone = samples_gone(hit, STALL_LONG_SCOREBOARD);
    Resource queue = case_behind(&s.c, &s.c.parts[0], s.c.parts[0].accesses[0].pc);
    f64 queued = s.c.load.queued[queue];
    *in_line = queued > 0 ? 1 - hit->change.queued[queue] / queued : 0;
    forget(&s);
    return gone / (10 * cycles);
}

// A load that is waited for 600 cycles each time, and at a barrier so many samples for the warps that are still there.
static f64 latency_before_barrier(u64 at_barrier) {
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; bar.sync 0;\n"
                                               "st.global.f32 [%rd3], %f2; ret;");
    view->gpu = &gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 6000);
        if (view->flow.code->insns[pc].is_barrier) subject_stall(&s.subject, pc, STALL_BARRIER, at_barrier);
    }
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    f64 latency = s.c.parts[0].accesses[0].latency, blamed = s.c.parts[0].insns[s.c.parts[0].accesses[0].pc].blamed;
    assert_true(blamed >= 6000 + (f64)at_barrier / 2);
    forget(&s);
    return latency;
}

static void waits_at_barriers_are_no_latency(void **state) {
    (void)state;
    assert_float_equal(latency_before_barrier(0), 600, 1e-6);
    assert_float_equal(latency_before_barrier(6000), 600, 1e-6);
}

// Neighbouring lanes take new sectors with each load, which comes from DRAM then: where lanes that walk along rows of
// their own waited less, as most words were in the L1, nothing is gained. What the sectors that stay wait longer than
// that is a queue, which gets shorter.
static void coalesced_loads_take_as_long_as_an_idle_machine(void **state) {
    (void)state;
    f64 in_line;
    assert_near(coalesced(500, &in_line), 0);
    f64 gone = coalesced(5300, &in_line);
    assert_true(gone > 0.7 && gone < 0.9);
    assert_true(in_line > 0.08 && in_line < 0.15);  // an eighth of nine tenths
}

// What all lanes share, and an element of each thread's, both waited for at their sum.
#define SHARED_FACTOR                                                                                  \
    BEGIN "mov.u32 %r6, 0; mov.u64 %rd4, %rd1;\n"                                                      \
          "more: ld.global.f32 %f2, [%rd4]; ld.global.f32 %f1, [%rd3+65536]; add.f32 %f3, %f1, %f2;\n" \
          "add.s64 %rd4, %rd4, 4; add.s64 %rd3, %rd3, 65536; add.s32 %r6, %r6, 1;\n"                   \
          "setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; st.shared.f32 [tile], %f3; ret;"

static f64 waits_of_shared_factor(f64 dram) {
    Sampled s;
    begin(&s, SHARED_FACTOR);
    sampled_end(&s);
    s.c.of_l1 = 1;
    access_of(&s, 1)->use[RESOURCE_DRAM] = dram;
    const Hit *hit = ask(&s, "memory-transactions");
    assert_non_null(hit);
    f64 gone = samples_gone(hit, STALL_LONG_SCOREBOARD);
    forget(&s);
    return gone;
}

static void constants_are_there_before_what_dram_serves(void **state) {
    (void)state;
    assert_true(waits_of_shared_factor(0) > 200);
    assert_near(waits_of_shared_factor(0.3), 0);
}

// A load, a barrier, and what is shared.
#define TWO_PHASES                                                                                 \
    BEGIN "mov.u32 %r7, tile; mad.lo.s32 %r8, %r1, 4, %r7; ld.global.u32 %r6, [%rd3];\n"           \
          "st.shared.u32 [%r8], %r6; bar.sync 0; ld.shared.u32 %r9, [%r8]; add.s32 %r9, %r9, 1;\n" \
          "ld.global.u32 %r10, [%rd3+4]; add.s32 %r9, %r9, %r10; st.shared.u32 [%r8], %r9; ret;"

static Resource behind(f64 waves, u32 load) {
    Sampled s;
    begin(&s, TWO_PHASES);
    s.subject.view.occupancy.waves = waves;
    sampled_end(&s);
    CasePart *part = &s.c.parts[0];
    for (u32 pc = 0; pc < part->view->insn_count; pc++) memset(part->insns[pc].use, 0, sizeof part->insns[pc].use);
    access_of(&s, 0)->use[RESOURCE_DRAM] = s.c.load.busy[RESOURCE_DRAM] = 0.3;
    access_of(&s, 2)->use[RESOURCE_LSU] = s.c.load.busy[RESOURCE_LSU] = 0.7;
    case_find_behind(&s.c);
    Resource r = case_behind(&s.c, part, part->accesses[load].pc);
    forget(&s);
    return r;
}

// CTAs that start together are in the same phase: ahead of the barrier DRAM is what loads wait for, although shared
// memory is busier on the whole. Of many waves some are in each phase.
static void loads_queue_behind_their_phase(void **state) {
    (void)state;
    assert_int_equal(behind(2, 0), RESOURCE_DRAM);
    assert_int_equal(behind(2, 3), RESOURCE_LSU);
    assert_int_equal(behind(20, 0), RESOURCE_LSU);
}

// What a load takes on an idle machine: behind the way to DRAM a row is opened (20 cycles of 1000 MHz, 40 of the SM),
// half of the lines lie in the other partition, and a tenth of the loads meet half of a refresh of 100 cycles.
static void idle_dram_opens_rows_and_refreshes(void **state) {
    (void)state;
    GpuModel g = gpu;
    KernelView view = {.provenance = "sampled"};
    AdviceCase c = {.gpu = &g, .view = &view};
    assert_near(case_idle_latency(&c, 1, 1), 30 + 200 + 300);
    g.dram_clock_mhz = 1000, g.t_rcd = 9, g.t_cl = 9, g.t_burst = 2;
    g.l2_crossing = 100;
    g.t_rfc = 100, g.t_refi = 1000;
    assert_near(case_idle_latency(&c, 1, 1), 30 + 200 + 300 + 40 + 50 + 2 * 5);
    assert_near(case_idle_latency(&c, 1, 0), 30 + 200);
    // Of several lines the last one counts.
    assert_near(case_idle_last(&c, 1, 1, 1), case_idle_latency(&c, 1, 1));
    assert_near(case_idle_last(&c, 1, 1, 8), case_idle_latency(&c, 1, 1) + 3 * 100);
    assert_near(case_idle_last(&c, 1, 0, 4), 30 + 200 + 2 * 36);
    assert_near(case_idle_last(&c, 0, 0, 4), 30);
    view.provenance = "simulated";
    assert_near(case_idle_last(&c, 1, 1, 8), case_idle_latency(&c, 1, 1));  // each load's latency was counted
    assert_near(case_idle_latency(&c, 1, 1), 30 + 200 + 300);
}

// --- copies ----------------------------------------------------------------------------------------------------------
// A tile of which each thread loads a word, and threads of the first warp another one behind it.
#define FILL(another)                                                                                   \
    BEGIN "mov.u32 %r7, tile; mad.lo.s32 %r8, %r1, 4, %r7; mov.u32 %r6, 0; setp.gt.u32 %p2, %r1, 31;\n" \
          "more: ld.global.u32 %r9, [%rd3]; st.shared.u32 [%r8], %r9;\n" another                        \
          "behind: bar.sync 0; ld.shared.u32 %r11, [%r8]; add.s32 %r12, %r12, %r11; bar.sync 0;\n"      \
          "add.s64 %rd3, %rd3, 4096; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more;\n"  \
          "st.global.u32 [%rd1], %r12; ret;"
#define ANOTHER "@%p2 bra behind; ld.global.u32 %r10, [%rd3+65536]; st.shared.u32 [%r8+512], %r10;\n"

static f64 hidden_part(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "async-copy");
    assert_non_null(hit);
    f64 part = hit->change.hidden / (hit->change.hidden + hit->change.stalls);
    forget(&s);
    return part;
}

// What is loaded behind a store waits once more; copies of both start together, and one wait is left to overlap.
static void copies_behind_each_other_wait_once(void **state) {
    (void)state;
    assert_near(hidden_part(FILL("")), 1);
    f64 part = hidden_part(FILL(ANOTHER));
    assert_true(part > 0.4 && part < 0.7);
}

typedef struct Copies {
    f64 turns;   // ahead that the advice speaks of; 0: of one
    f64 hidden;  // part of the wait that their work hides
    f64 issues;  // that are added
} Copies;

// Of a turn whose other ten instructions issue for 100 samples, with a tile of so many bytes.
static Copies copies_of(u32 waits, u32 tile) {
    Sampled s;
    GpuModel with_shared = gpu;
    with_shared.shared_per_sm = 128 << 10;
    Copies copies = {0};
    KernelView *view = sampled_begin(&s, FILL(""));
    view->gpu = &with_shared;
    view->occupancy = (ViewOccupancy){.ctas_per_sm = 8, .waves = 0.25};
    s.subject.function.shared_bytes = tile;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, waits);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "async-copy");
    assert_non_null(hit);
    for (u32 i = 0; i < hit->facts.len; i++)
        if (!strcmp(hit->facts.data[i].name, "copy_turns")) copies.turns = hit->facts.data[i].value;
    copies.hidden = fmin(hit->change.scope_active / hit->change.hidden, 1);
    copies.issues = -hit->change.issues;
    forget(&s);
    return copies;
}

// What one turn's work is much too short for takes several turns, as far as there is room for their tiles, and
// instructions for each copy.
static void long_waits_are_hidden_by_several_turns(void **state) {
    (void)state;
    Copies one = copies_of(140, 4096), three = copies_of(250, 4096);
    assert_near(one.turns, 0);
    assert_true(one.hidden < 0.8 && one.issues <= 0);
    assert_near(three.turns, 3);
    assert_near(three.hidden, 1);
    assert_near(three.issues - one.issues, 10 * 20);
    assert_near(copies_of(10000, 4096).turns, 8);  // no more
    assert_near(copies_of(250, 16384).turns, 3);   // four tiles for each of two CTAs
    assert_near(copies_of(250, 20480).turns, 2);
    assert_near(copies_of(250, 49152).turns, 0);
    assert_near(copies_of(250, 0).turns, 0);  // not known
}

// --- queues ----------------------------------------------------------------------------------------------------------
// What waits in front of the special function unit's full queue is in one queue, once.
static void waits_for_a_full_queue_are_counted_once(void **state) {
    (void)state;
    Sampled s;
    begin(&s, BEGIN "cvt.rn.f32.s32 %f1, %r4; ex2.approx.f32 %f2, %f1; sin.approx.f32 %f1, %f2;\n"
                    "st.global.f32 [%rd3], %f1; ret;");
    const FlowCode *code = s.subject.view.flow.code;
    f64 waits = 0, queued = 0;
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        if (code->insns[pc].unit != UNIT_XU) continue;
        subject_stall(&s.subject, pc, STALL_MIO_THROTTLE, 500);
        waits += 500;
    }
    sampled_end(&s);
    for (u32 r = 0; r < RESOURCE_COUNT; r++) queued += s.c.load.queued[r];
    assert_true(waits >= 1000);
    assert_near(queued, waits);
    forget(&s);
}

// Special registers are read through the queue of the L1: what that takes longer than 26 cycles was waited there.
static void special_registers_come_through_the_queue(void **state) {
    (void)state;
    Sampled s;
    GpuModel g = gpu;
    g.special_latency = 26;
    begin(&s, "mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r2; ret;");
    s.subject.view.gpu = &g;
    s.subject.view.launches.total_ns = 60;
    subject_stall(&s.subject, 1, STALL_SHORT_SCOREBOARD, 1000);
    sampled_end(&s);
    assert_near(s.c.load.queued[RESOURCE_LSU], 1000 - 10 * 26);
    Hit *hit = hit_begin(&s.c);
    assert_near(hit_blamed(hit, &s.c.parts[0], 0, STALL_BIT(SHORT_SCOREBOARD), 0.5), 500);
    assert_near(hit->change.queued[RESOURCE_LSU], 370);
    hit_drop(hit);
    forget(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_at_barriers_are_no_latency),
                                       cmocka_unit_test(loads_stay_behind_ways_that_meet),
                                       cmocka_unit_test(what_is_there_is_waited_for_no_more),
                                       cmocka_unit_test(what_the_same_word_names_is_the_same),
                                       cmocka_unit_test(some_eight_loads_are_under_way),
                                       cmocka_unit_test(whole_loops_do_not_count),
                                       cmocka_unit_test(copies_for_the_next_turn_go),
                                       cmocka_unit_test(clamped_rows_have_sectors_of_their_own),
                                       cmocka_unit_test(rows_of_all_arrays_are_one_change),
                                       cmocka_unit_test(pointers_are_there_before_what_dram_serves),
                                       cmocka_unit_test(places_of_neighbours_could_be_computed),
                                       cmocka_unit_test(what_lies_nearby_takes_the_l1_a_line),
                                       cmocka_unit_test(places_may_be_none),
                                       cmocka_unit_test(places_of_bytes_are_made_word_by_word),
                                       cmocka_unit_test(small_tables_have_no_conflicts),
                                       cmocka_unit_test(the_l2_works_for_what_is_waited_for),
                                       cmocka_unit_test(gathers_that_wait_less_than_for_dram_are_in_the_l2),
                                       cmocka_unit_test(coalesced_loads_take_as_long_as_an_idle_machine),
                                       cmocka_unit_test(constants_are_there_before_what_dram_serves),
                                       cmocka_unit_test(loads_queue_behind_their_phase),
                                       cmocka_unit_test(idle_dram_opens_rows_and_refreshes),
                                       cmocka_unit_test(copies_behind_each_other_wait_once),
                                       cmocka_unit_test(long_waits_are_hidden_by_several_turns),
                                       cmocka_unit_test(waits_for_a_full_queue_are_counted_once),
                                       cmocka_unit_test(special_registers_come_through_the_queue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
