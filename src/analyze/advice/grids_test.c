// SPDX-License-Identifier: Apache-2.0
// What the grid says of a kernel of which there are only samples: SMs without CTAs, loops that go over the whole grid,
// what each CTA adds at its end.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 1000,
                             .noc_clock_mhz = 1000,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300,
                             .l2_atomic_interval = 100,
                             .l2_atomic_float = 100,
                             .dram_channels = 10,
                             .dram_burst = 64,
                             .dram_clock_mhz = 10000,
                             .t_burst = 1,
                             .max_ctas_per_sm = 8,
                             .max_threads_per_sm = 1024};

static f64 latency = 1000;  // that what comes after a load waits, in samples

// A launch of so many CTAs of 128 threads that takes 100 us. In loops each instruction issued ten times as often.
static void sample(Sampled *s, u32 ctas, const char *body) {
    static const ProfileFunction function = {.name = "subject"};
    KernelView *view = sampled_begin(s, body);
    s->launch.grid[0] = ctas;
    view->gpu = &gpu;
    view->function = &function;
    view->launches.total_ns = 100000;
    view->occupancy.ctas_per_sm = 8;
    view->occupancy.warps_per_cta = 4;
    view->occupancy.warps_per_sm = 32;
    view->occupancy.waves = (f64)ctas / 800;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        bool turns = view->flow.loops->loop_of[view->flow.cfg->block_of[pc]] != WL_NONE;
        subject_stall(&s->subject, pc, STALL_SELECTED, turns ? 100 : 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, (u32)latency);
    }
    view->total_latency = view->total * 9 / 10;
    sampled_end(s);
}

// Sums elements that lie so many apart, up to an end that the thread's first one decides, or that is the same for all.
#define SUM(apart, counter)                                                                            \
    BEGIN "mov.f32 %f1, 0f00000000; mov.u32 %r8, " counter ";\n"                                       \
          "turn: ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, 4*" apart ";\n" \
          "add.s32 %r8, %r8, " apart "; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd1], %f1; ret;"

static bool fills_with_more_ctas(const char *body) {
    Sampled s;
    sample(&s, 40, body);
    const Hit *hit = ask(&s, "block-increase");
    assert_non_null(hit);
    bool fills = strstr(hit->what, "to fill all SMs") != NULL;
    forget(&s);
    return fills;
}

// 40 CTAs of 128 threads are 5120: a loop that goes on by as many elements deals them to any number of CTAs, also where
// the code has the number and not the grid's size.
static void loops_over_a_grid_of_a_known_size(void **state) {
    (void)state;
    assert_true(fills_with_more_ctas(SUM("5120", "%r4")));
    assert_true(fills_with_more_ctas(SUM("20480", "%r4")));  // four turns in one
    assert_false(fills_with_more_ctas(SUM("5000", "%r4")));  // not the grid
    assert_false(fills_with_more_ctas(SUM("5120", "0")));    // from array to array
}

// Goes on by as much as all CTAs have, from `first` by `step` up to a number of the launch's, and needs each turn for
// the next.
#define STEPS(first, step)                                                                                   \
    BEGIN "mov.u32 %r11, %nctaid.x; mul.wide.u32 %rd6, %r11, 512; mov.u32 %r9, 0; mov.u32 %r8, " first ";\n" \
          "turn: ld.global.u32 %r7, [%rd3]; mad.lo.s32 %r9, %r9, %r9, %r7; add.s64 %rd3, %rd3, %rd6;\n"      \
          "add.s32 %r8, %r8, " step "; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.u32 [%rd1], %r9; ret;"

// A grid's size in a step says that there may be any number of CTAs where a CTA's own number says how many steps it
// goes; where all go as many, those are of time, say.
static void steps_of_all_ctas_are_no_shares(void **state) {
    (void)state;
    assert_true(fills_with_more_ctas(STEPS("%r2", "%r11")));
    assert_false(fills_with_more_ctas(STEPS("0", "1")));
}

// Turns a loop over neighbouring elements that `takes` %r7 from memory into %r9.
#define TAKE(takes)                                                                                    \
    BEGIN "mov.u32 %r8, 0; mov.u32 %r9, 0;\n"                                                          \
          "turn: ld.global.u32 %r7, [%rd3]; " takes " add.s64 %rd3, %rd3, 512; add.s32 %r8, %r8, 1;\n" \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.u32 [%rd1], %r9; ret;"

static bool splits(const char *body) {
    Sampled s;
    sample(&s, 40, body);
    const Hit *hit = ask(&s, "block-increase");
    assert_non_null(hit);
    bool does = strstr(hit->what, "Split the loop") != NULL;
    forget(&s);
    return does;
}

// What can be joined afterwards is no reason for one CTA to do it all: sums and extremes, but no chain of products.
static void sums_and_extremes_are_dealt(void **state) {
    (void)state;
    assert_true(splits(TAKE("add.s32 %r9, %r9, %r7;")));
    assert_true(splits(TAKE("max.s32 %r9, %r9, %r7;")));
    assert_true(splits(TAKE("min.s32 %r10, %r9, %r7; mov.u32 %r9, %r10;")));
    assert_false(splits(TAKE("mad.lo.s32 %r9, %r9, %r9, %r7;")));
    // Counted where a condition says so: the sum, and what takes it back.
    assert_true(
        splits(TAKE("setp.gt.s32 %p1, %r7, 9; add.s32 %r10, %r9, 1; @!%p1 mov.u32 %r10, %r9; mov.u32 %r9, %r10;")));
    assert_true(splits(TAKE("setp.gt.s32 %p1, %r7, 9; add.s32 %r10, %r9, 1; selp.b32 %r9, %r10, %r9, %p1;")));
    assert_false(splits(
        TAKE("setp.gt.s32 %p1, %r7, 9; add.s32 %r10, %r9, 1; selp.b32 %r9, %r10, %r9, %p1; xor.b32 %r9, %r9, %r10;")));
}

// The thread's index, which some turns read once more; another number in its place is what turns hand on.
#define SET_AGAIN(value)                                                                                        \
    TAKE("mul.lo.s32 %r13, %r1, %r7; add.s32 %r9, %r9, %r13; setp.gt.s32 %p1, %r1, %r7; @!%p1 bra on; mov.u32 " \
         "%r1, " value "; on:")

static void what_is_read_again_is_not_handed_on(void **state) {
    (void)state;
    assert_true(splits(SET_AGAIN("%tid.x")));
    assert_false(splits(SET_AGAIN("%r7")));
}

// 60 CTAs become 780, so that the fullest of 100 SMs has 8 of 13 parts of what one had, not the 0.6 of an average one;
// and each further thread waits for what lies outside of the loop.
static void the_fullest_sm_and_what_is_outside_count(void **state) {
    (void)state;
    Sampled s;
    sample(&s, 60, TAKE("add.s32 %r9, %r9, %r7;"));
    const Hit *hit = ask(&s, "block-increase");
    assert_non_null(hit);
    f64 more = floor(fmin(800.0 / 60, s.c.parts[0].loops[0].trips)), fullest = ceil(60 * more / 100);
    assert_true(more > 2 && fullest > 60 * more / 100 + 0.1);
    assert_near(hit->change.work, fullest / more);
    assert_near(hit->change.warps, fullest);
    assert_near(hit->change.stalls, 0);
    forget(&s);
    sample(&s, 60,
           "ld.param.u64 %rd1, [p]; ld.global.u32 %r9, [%rd1]; add.s32 %r9, %r9, 1;\n" TAKE("add.s32 %r9, %r9, %r7;"));
    hit = ask(&s, "block-increase");
    assert_non_null(hit);
    assert_near(hit->change.stalls, -latency * (more - 1));
    forget(&s);
}

// Neighbouring elements, added up by the CTA's warps, which join them behind the loop or not.
#define JOINED(join)                                                                                         \
    BEGIN "mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r12, tile; mad.lo.s32 %r13, %r1, 4, %r12;\n"             \
          "turn: ld.global.u32 %r7, [%rd3]; add.s32 %r9, %r9, %r7; add.s64 %rd3, %rd3, 512;\n"               \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.shared.u32 [%r13], %r9;\n" join \
          "ld.shared.u32 %r10, [%r12]; st.global.u32 [%rd1], %r10; ret;"

static f64 warps_after(u32 ctas, const char *body) {
    Sampled s;
    sample(&s, ctas, body);
    const Hit *hit = ask(&s, "thread-increase");
    bool shared = hit && strstr(hit->what, "share the loop");
    f64 warps = shared && fabs(hit->change.work - 1) < 1e-9 ? hit->change.warps : 0;
    forget(&s);
    return warps;
}

// CTAs of four warps on a GPU that has room for more: their loop is shared by twice as many. Where the machine is full,
// and where warps do not meet behind the loop, it is not.
static void warps_that_join_can_be_more(void **state) {
    (void)state;
    assert_float_equal(warps_after(300, JOINED("bar.sync 0;")), 2, 1e-9);
    assert_float_equal(warps_after(700, JOINED("bar.sync 0;")), 0, 1e-9);
    assert_float_equal(warps_after(300, JOINED("")), 0, 1e-9);
}

// The same of a tile in shared memory, whose first so many bytes each turn leaves behind.
#define OF_TILE(step)                                                                                      \
    BEGIN "mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r12, tile; mad.lo.s32 %r13, %r1, 4, %r12;\n"           \
          "mov.u32 %r14, %r13; turn: ld.shared.u32 %r7, [%r14]; add.s32 %r9, %r9, %r7;\n"                  \
          "add.s32 %r14, %r14, " step "; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn;\n" \
          "st.shared.u32 [%r13], %r9; bar.sync 0; ld.shared.u32 %r10, [%r12]; st.global.u32 [%rd1], %r10; ret;"

// Turns that go on by as much as the CTA's 128 threads have of it deal it to them, others have all of them in each
// turn.
static void warps_that_deal_a_tile_can_be_more(void **state) {
    (void)state;
    assert_float_equal(warps_after(300, OF_TILE("512")), 2, 1e-9);
    assert_float_equal(warps_after(300, OF_TILE("4")), 0, 1e-9);
    assert_float_equal(warps_after(300, OF_TILE("132")), 0, 1e-9);
}

// Goes where data says, and adds there.
#define COUNT_BY_DATA                                                                               \
    BEGIN "mov.u32 %r8, 0;\n"                                                                       \
          "turn: ld.global.u32 %r7, [%rd3]; mul.wide.u32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "red.global.add.u32 [%rd5], 1; add.s64 %rd3, %rd3, 409600; add.s32 %r8, %r8, 1;\n"        \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ret;"

// Loads behind atomics that meet wait for those, not for DRAM, which would not make them wait longer either.
static void loads_behind_atomics_do_not_wait_for_dram(void **state) {
    (void)state;
    Sampled s;
    latency = 1000000;
    sample(&s, 800, COUNT_BY_DATA);
    latency = 1000;
    f64 busy = s.c.load.busy[RESOURCE_ATOMIC], waits = s.c.stalls[STALL_LONG_SCOREBOARD];
    assert_true(busy > 0.8 && s.c.parts[0].insns[s.c.parts[0].accesses[0].pc].use[RESOURCE_DRAM] > 0);
    assert_true(s.c.load.from_dram > 0 && s.c.load.from_dram <= (1 - busy) * waits * 1.01);
    forget(&s);
}

static f64 atomics_busy(u32 ctas) {
    Sampled s;
    sample(&s, ctas,
           BEGIN "mov.u32 %r8, 0; turn: red.global.add.u32 [%rd1], 1; add.s32 %r8, %r8, 1;\n"
                 "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ret;");
    f64 busy = s.c.load.busy[RESOURCE_ATOMIC];
    forget(&s);
    return busy;
}

// Rates of samples are those of SMs that have CTAs.
static void few_sms_ask_for_few_atomics(void **state) {
    (void)state;
    f64 ten = atomics_busy(10), five = atomics_busy(5);
    assert_true(five > 0 && ten < 1);
    assert_float_equal(ten / five, 2, 1e-6);
}

// Counts what was loaded.
#define COUNT(op, value)                                                                      \
    BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "red.global.add." op " [%rd5], " value "; ret;"

// 1000 CTAs add what they have to two lines, eight sectors, at their end: 8000 of the 100,000 cycles but those that
// beginning and ending take.
static void ctas_add_to_few_lines(void **state) {
    (void)state;
    Sampled s;
    latency = 1000000;  // many times what an idle machine takes
    sample(&s, 1000, COUNT("u32", "1"));
    const Hit *hit = ask(&s, "atomic-contention");
    assert_non_null(hit);
    f64 busy = s.c.load.busy[RESOURCE_ATOMIC], left = busy - hit->change.relief[RESOURCE_ATOMIC];
    assert_true(busy > 0.9);
    assert_float_equal(left, 0.08 / (1 - s.c.fixed), 1e-6);
    assert_float_equal(hit->change.stalls, 0, 0);
    forget(&s);
    // 100,000 CTAs: each thread would add once, eight words at a time.
    sample(&s, 100000, COUNT("u32", "1"));
    hit = ask(&s, "atomic-contention");
    assert_non_null(hit);
    busy = s.c.load.busy[RESOURCE_ATOMIC];
    assert_float_equal(busy - hit->change.relief[RESOURCE_ATOMIC], busy / 8, 1e-6);
    forget(&s);
    latency = 1000;
}

// The loop waits for loads, for longer than anything explains; behind it one lane of each warp adds once to a word that
// data names.
#define ADD_ONCE(guard)                                                                                        \
    BEGIN "ld.global.u32 %r7, [%rd1]; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r8, 0;\n"  \
          "turn: ld.global.u32 %r9, [%rd3]; add.s64 %rd3, %rd3, 512; add.s32 %r8, %r8, 1;\n"                   \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; and.b32 %r10, %r1, 31; setp.eq.u32 %p1, %r10, 0;\n" guard \
          "red.global.add.u32 [%rd5], 1; ret;"

static f64 once_busy(const char *body) {
    Sampled s;
    latency = 1000000;
    sample(&s, 100, body);
    f64 busy = s.c.load.busy[RESOURCE_ATOMIC] * (1 - s.c.fixed);
    forget(&s);
    latency = 1000;
    return busy;
}

// Atomics take no longer than if all lanes, 12,800 in 100,000 cycles, met on one word, whatever loads wait for.
static void few_atomics_hold_nobody_up(void **state) {
    (void)state;
    f64 all = once_busy(ADD_ONCE("")), one = once_busy(ADD_ONCE("@%p1 "));
    assert_float_equal(all, 0.128, 1e-6);
    assert_true(one > 0 && one < all / 2);
}

// The loop waits for loads; behind it each thread of a CTA adds to the CTA's word, `bytes` from the next CTA's.
#define ADD_OF_CTA(bytes)                                                                           \
    BEGIN "mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd4, %r7, " bytes "; add.s64 %rd5, %rd1, %rd4;\n"   \
          "mov.u32 %r8, 0; turn: ld.global.f32 %f1, [%rd3]; add.s64 %rd3, %rd3, 512;\n"             \
          "add.f32 %f2, %f2, %f1; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn;\n" \
          "red.global.add.f32 [%rd5], %f2; ret;"

static void words_of_two_lines_are_done_in_turn(void **state) {
    (void)state;
    Sampled s;
    latency = 1000000;
    sample(&s, 40, ADD_OF_CTA("4"));
    assert_float_equal(s.c.load.busy[RESOURCE_ATOMIC] * (1 - s.c.fixed), 40 * 128 / 1e5, 1e-6);
    assert_float_equal(s.c.load.queued[RESOURCE_ATOMIC] / case_stalls(&s.c, STALL_BIT(LONG_SCOREBOARD)),
                       s.c.load.busy[RESOURCE_ATOMIC], 1e-3);
    forget(&s);
    sample(&s, 40, ADD_OF_CTA("256"));
    assert_float_equal(s.c.load.busy[RESOURCE_ATOMIC], 0, 1e-9);
    forget(&s);
    latency = 1000;
}

// A loop that waits for `what` in each turn, and adds to a word of all threads.
#define SUM_OF_ALL(what)                                                                 \
    BEGIN "mov.u32 %r8, 0; turn: " what " add.f32 %f2, %f2, %f1; add.s32 %r8, %r8, 1;\n" \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd3], %f2; ret;"

// Part of these waits that is the atomics' line, as long as the L2 has nothing else to do.
static f64 in_line(const char *body) {
    Sampled s;
    latency = 100000;
    sample(&s, 1000, body);
    f64 waits = case_stalls(&s.c, STALL_BIT(LONG_SCOREBOARD)), line = s.c.load.queued[RESOURCE_ATOMIC];
    assert_true(s.c.load.busy[RESOURCE_ATOMIC] > 0 && waits > 0);
    line /= waits * s.c.load.busy[RESOURCE_ATOMIC];
    forget(&s);
    latency = 1000;
    return line;
}

// What an atomic brings back comes when the line before it is done; what a load brings takes its time besides.
static void loads_take_their_time_behind_atomics(void **state) {
    (void)state;
    f64 own = in_line(SUM_OF_ALL("atom.global.add.f32 %f1, [%rd1], %f2;"));
    f64 loads = in_line(SUM_OF_ALL("red.global.add.f32 [%rd1], %f2; ld.global.f32 %f1, [%rd3];"));
    assert_float_equal(own, 1, 1e-3);
    assert_true(loads < 0.9);
}

// The queue of special functions is that of accesses as well: who waits for a place in it behind atomics waits for
// those, once.
static void the_atomics_line_is_in_one_queue(void **state) {
    (void)state;
    Sampled s;
    GpuModel model = gpu_of_atomics;
    model.xu_interval = 16;
    KernelView *view = sampled_begin(&s, BEGIN "ld.global.u32 %r7, [%rd3]; cvt.rn.f32.u32 %f1, %r7;\n"
                                               "sin.approx.f32 %f2, %f1; mul.wide.s32 %rd4, %r7, 4;\n"
                                               "add.s64 %rd5, %rd1, %rd4; red.global.add.f32 [%rd5], %f2; ret;");
    u32 end = view->flow.code->insn_count - 1;
    view->gpu = &model;
    for (u32 pc = 0; pc <= end; pc++)
        subject_stall(&s.subject, pc, STALL_SELECTED, view->flow.code->insns[pc].unit == UNIT_XU ? 30 : 1);
    subject_stall(&s.subject, end, STALL_DRAIN, 9000);
    subject_stall(&s.subject, end - 1, STALL_MIO_THROTTLE, 1000);
    sampled_end(&s);
    const EstimateLoad *load = &s.c.load;
    f64 atomics = load->busy[RESOURCE_ATOMIC];
    assert_true(atomics > 0.8 && load->busy[RESOURCE_XU] > load->busy[RESOURCE_LSU]);
    assert_float_equal(load->queued[RESOURCE_ATOMIC], atomics * 10000, 1);
    assert_float_equal(load->queued[RESOURCE_XU], (1 - atomics) * 1000, 1);
    forget(&s);
}

// Shared memory cannot add floats: lanes that meet take turns, 95 cycles each.
static void floats_take_turns_in_shared_memory(void **state) {
    (void)state;
    Sampled s;
    latency = 1000000;
    sample(&s, 1000, COUNT("f32", "0f3f800000"));
    const Hit *hit = ask(&s, "atomic-contention");
    assert_non_null(hit);
    f64 once = s.c.parts[0].accesses[s.c.parts[0].access_count - 1].requests;
    assert_float_equal(-(hit->change.stalls + hit->change.issues), ACCESS_AT_RANDOM * 95 * once, 1e-6 * once);
    forget(&s);
    latency = 1000;
}

// 100 CTAs of 128 threads go through an array by 50 KB. The compiler turns four times at once, and before that what is
// left over.
#define TURN "ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, 51200; add.s32 %r8, %r8, 12800;\n"
#define LEFT_OVER                                                     \
    "and.b32 %r9, %r5, 3; setp.eq.s32 %p1, %r9, 0; @%p1 bra begin;\n" \
    "one: " TURN "sub.s32 %r9, %r9, 1; setp.ne.s32 %p1, %r9, 0; @%p1 bra one; begin: mov.u32 %r10, 0;\n"
#define SUMS(before)                                                                         \
    BEGIN "mov.f32 %f1, 0f00000000; mov.u32 %r8, %r4;\n" before "four: " TURN TURN TURN TURN \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra four; st.global.f32 [%rd1], %f1; ret;"

static f64 dram_busy(const char *body) {
    Sampled s;
    sample(&s, 100, body);
    f64 bytes = 0;
    for (u32 i = 0; i < s.c.parts[0].access_count; i++) {
        const CaseAccess *a = &s.c.parts[0].accesses[i];
        u32 loop = s.c.parts[0].insns[a->pc].loop;
        if (a->load && loop != WL_NONE && s.c.parts[0].view->flow.loops->loops[loop].block_count == 1)
            bytes += s.c.parts[0].insns[a->pc].use[RESOURCE_DRAM];
    }
    forget(&s);
    return bytes;
}

// A loop that begins where the turns that are left over end names no fewer bytes than one that begins at once.
static void split_loops_name_their_bytes(void **state) {
    (void)state;
    f64 whole = dram_busy(SUMS(""));
    assert_true(whole > 0);
    assert_true(dram_busy(SUMS(LEFT_OVER)) > 0.5 * whole);
}

// The rate of issue that follows when a part of the samples is of warps in line.
static f64 rate_with(u32 in_line) {
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN "st.global.u32 [%rd3], %r4; ret;");
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        subject_stall(&s.subject, pc, STALL_WAIT, 90 - in_line);
        if (in_line) subject_stall(&s.subject, pc, pc % 2 ? STALL_NOT_SELECTED : STALL_DISPATCH, in_line);
    }
    view->total_latency = view->total / 2;
    sampled_end(&s);
    f64 rate = s.c.load.issue_rate;
    forget(&s);
    return rate;
}

// Samples in which a scheduler issued are too many, the more of them the longer the line in front of it.
static void lines_before_schedulers_hide_lost_cycles(void **state) {
    (void)state;
    assert_float_equal(rate_with(0), 0.5 * 0.95, 1e-9);
    assert_float_equal(rate_with(40), 0.5 * (0.95 - 0.35 * 0.4), 1e-9);
}

// Three kernels in turn, of which a few records are in another order.
static u32 next_of(u32 function, u32 swapped) {
    enum { LAUNCHES = 60 };
    ProfileLaunch launches[LAUNCHES];
    for (u32 i = 0; i < LAUNCHES; i++) launches[i] = (ProfileLaunch){.function = i % 3};
    for (u32 i = 0; i < swapped; i++) launches[6 * i].function = 1, launches[6 * i + 1].function = 0;
    return launches_beside(launches, LAUNCHES, function, 1);
}

// One record that is out of order hides nothing; many say that there is none.
static void what_mostly_follows_is_next(void **state) {
    (void)state;
    assert_int_equal(next_of(1, 0), 2);
    assert_int_equal(next_of(1, 1), 2);
    assert_int_equal(next_of(1, 8), WL_NONE);
}

// Of three kernels that are launched in turn the first goes on with nothing of the third.
static void who_begins_ends_no_round(void **state) {
    (void)state;
    enum { LAUNCHES = 60 };
    ProfileLaunch launches[LAUNCHES];
    for (u32 i = 0; i < LAUNCHES; i++) launches[i] = (ProfileLaunch){.function = i % 3};
    assert_int_equal(launches_beside(launches, LAUNCHES, 2, 1), 0);
    assert_int_equal(launches_linked(launches, LAUNCHES, 0, 1), 1);
    assert_int_equal(launches_linked(launches, LAUNCHES, 1, -1), 0);
    assert_int_equal(launches_linked(launches, LAUNCHES, 2, 1), WL_NONE);
    assert_int_equal(launches_linked(launches, LAUNCHES, 0, -1), WL_NONE);
}

// A stream takes 3.4 us for a short kernel, and for a long one no longer than it was seen to take.
static void short_kernels_wait_for_their_stream(void **state) {
    (void)state;
    assert_near(launch_on_stream(1500, 5000), 3400);
    assert_near(launch_on_stream(1500, 2600), 2600);
    assert_near(launch_on_stream(10000, 30000), 10950);
    assert_near(launch_on_stream(1500, 0), 1500);  // they do not follow each other
}

// One word for each thread, of three; then a thread that loads so many of these words.
#define WORD_OF_THREE                                                                                    \
    BEGIN "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4096]; ld.global.f32 %f3, [%rd3+8192];\n" \
          "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; st.global.f32 [%rd3+65536], %f1; ret;"
#define TAKE_WORD(k) "ld.global.f32 %f1, [%rd3+65536+4096*" #k "]; add.f32 %f2, %f2, %f1;\n"
#define OF_WORDS(words) BEGIN "mov.f32 %f2, 0f00000000; " words "st.global.f32 [%rd3+131072], %f2; ret;"

static f64 left_of_words(const char *second, u32 ctas) {
    Sampled s, t;
    const KernelView *a = sampled_begin(&s, WORD_OF_THREE), *b = sampled_begin(&t, second);
    s.launch.grid[0] = 400, t.launch.grid[0] = ctas;
    f64 left = merged_bytes_left(a, b);
    subject_free(&s.subject), subject_free(&t.subject);
    return left;
}

// A fourth of the threads who each load four words take all that was stored, which nobody else wants; who loads some of
// it twice may not be alone.
static void who_takes_all_words_has_them_in_registers(void **state) {
    (void)state;
    const f64 first = 400 * 16, second = 100 * 20;
    f64 four = left_of_words(OF_WORDS(TAKE_WORD(0) TAKE_WORD(1) TAKE_WORD(2) TAKE_WORD(3)), 100);
    assert_near(four, 1 - 2 * 400 * 4 / (first + second));
    f64 five = left_of_words(OF_WORDS(TAKE_WORD(0) TAKE_WORD(1) TAKE_WORD(2) TAKE_WORD(3) TAKE_WORD(4)), 100);
    assert_near(five, 1 - 400 * 4 / (first + second + 400));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_over_a_grid_of_a_known_size),
                                       cmocka_unit_test(steps_of_all_ctas_are_no_shares),
                                       cmocka_unit_test(sums_and_extremes_are_dealt),
                                       cmocka_unit_test(what_is_read_again_is_not_handed_on),
                                       cmocka_unit_test(the_fullest_sm_and_what_is_outside_count),
                                       cmocka_unit_test(warps_that_join_can_be_more),
                                       cmocka_unit_test(warps_that_deal_a_tile_can_be_more),
                                       cmocka_unit_test(loads_behind_atomics_do_not_wait_for_dram),
                                       cmocka_unit_test(few_sms_ask_for_few_atomics),
                                       cmocka_unit_test(ctas_add_to_few_lines),
                                       cmocka_unit_test(few_atomics_hold_nobody_up),
                                       cmocka_unit_test(words_of_two_lines_are_done_in_turn),
                                       cmocka_unit_test(loads_take_their_time_behind_atomics),
                                       cmocka_unit_test(the_atomics_line_is_in_one_queue),
                                       cmocka_unit_test(floats_take_turns_in_shared_memory),
                                       cmocka_unit_test(split_loops_name_their_bytes),
                                       cmocka_unit_test(what_mostly_follows_is_next),
                                       cmocka_unit_test(who_begins_ends_no_round),
                                       cmocka_unit_test(short_kernels_wait_for_their_stream),
                                       cmocka_unit_test(who_takes_all_words_has_them_in_registers),
                                       cmocka_unit_test(lines_before_schedulers_hide_lost_cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
