// SPDX-License-Identifier: Apache-2.0
// What is left to wait for after a change: rules on kernels of which there are only samples, made up.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

// Each instruction was caught issuing ten times; what comes after a load of global memory waited for it.
static void sample(Sampled *s, const char *body) {
    const KernelView *view = sampled_begin(s, body);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, 1000);
    }
    sampled_end(s);
}

static f64 measured(const char *body, const char *rule, f64 (*measure)(const Sampled *, const Hit *)) {
    Sampled s;
    sample(&s, body);
    return measured_of(&s, rule, measure);
}

#define TURN(k) \
    "ld.global.f32 %f1, [%rd3+4096*" #k "]; fma.rn.f32 %f2, %f1, %f1, %f2; st.global.f32 [%rd3+1048576], %f2;\n"
#define LOOP(turns, step)                                                                                      \
    BEGIN "mov.f32 %f2, 0f00000000; mov.u32 %r6, 0;\n"                                                         \
          "more: " turns "add.s64 %rd3, %rd3, 16384; add.s32 %r6, %r6, " step "; setp.lt.s32 %p1, %r6, %r5;\n" \
          "@%p1 bra more; ret;"

// Part of the loop's samples that are hidden when its loads start a turn earlier.
static f64 hidden_part(const Sampled *s, const Hit *hit) {
    const CaseLoop *loop = &s->c.parts[0].loops[0];
    return fmin(hit->change.hidden, hit->change.scope_active) / (loop->active + loop->stalled);
}

static f64 hidden(const char *body) { return measured(body, "code-reordering", hidden_part); }

#define OF_TILE(k) "ld.shared.f32 %f4, [tile+4*" #k "]; add.f32 %f2, %f2, %f4;\n"

// One turn waits for 1000 samples and works for little: with its load one turn ahead that little is hidden. Where four
// turns are one in the code no value has to be moved, two turns' loads are under way, and half of the time is left.
// Four loads of a tile in a turn of one load are no four turns, whatever the counter counts.
static void two_turns_of_an_unrolled_loop_are_under_way(void **state) {
    (void)state;
    f64 rolled = hidden(LOOP(TURN(0), "1"));
    assert_true(rolled > 0.03 && rolled < 0.1);
    assert_float_equal(hidden(LOOP(TURN(0) TURN(1) TURN(2) TURN(3), "4")), 0.5, 1e-9);
    assert_true(hidden(LOOP(TURN(0) OF_TILE(0) OF_TILE(1) OF_TILE(2) OF_TILE(3), "4")) < 0.2);
}

// Four turns in one, of which loads of two each start together: the first of them is waited for.
#define PAIR(a, b)                                                                    \
    "ld.global.f32 %f1, [%rd3+4096*" #a "]; ld.global.f32 %f4, [%rd3+4096*" #b "];\n" \
    "fma.rn.f32 %f2, %f1, %f1, %f2; fma.rn.f32 %f2, %f4, %f4, %f2; st.global.f32 [%rd3+1048576], %f2;\n"

static f64 hidden_of_pairs(u64 first, u64 second) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, LOOP(PAIR(0, 1) PAIR(2, 3), "4"));
    const FlowInsn *insns = view->flow.code->insns;
    for (u32 pc = 2; pc < view->flow.code->insn_count; pc++) {
        bool loop = insns[pc - 1].is_load && insns[pc - 2].is_load && insns[pc - 1].space == SPACE_GLOBAL;
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        if (!loop || insns[pc].is_load) continue;
        subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, first);
        subject_stall(&s.subject, pc + 1, STALL_LONG_SCOREBOARD, second);
    }
    sampled_end(&s);
    return measured_of(&s, "code-reordering", hidden_part);
}

// Where two turns' loads wait alike a turn takes half of its time with both under way. Where one of two is waited for
// they are already, and what one turn does besides is all that is left to overlap.
static void turns_that_are_under_way_gain_little(void **state) {
    (void)state;
    f64 alike = hidden_of_pairs(1000, 1000), together = hidden_of_pairs(2000, 0);
    assert_true(alike > 0.3 && together > 0 && together < 0.1);
}

// Two loads of a turn, of which the second starts behind what waits for the first, or with it.
#define LOAD(into, at) "ld.global.f32 " into ", [%rd3+" at "];\n"
#define USE_OF(value) "fma.rn.f32 %f2, " value ", " value ", %f2;\n"
#define STORED "st.global.f32 [%rd3+1048576], %f2;\n"
#define ONE_BEHIND LOOP(LOAD("%f1", "0") USE_OF("%f1") LOAD("%f4", "4194304") USE_OF("%f4") STORED, "1")
#define TOGETHER LOOP(LOAD("%f1", "0") LOAD("%f4", "4194304") USE_OF("%f1") USE_OF("%f4") STORED, "1")

// Part of the waits that goes in any case when the loads start a turn earlier, whose uses waited so long. `lines`: each
// has a line of its own.
static f64 waited_once_more(const char *body, bool lines, u64 first, u64 second) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, body);
    u32 uses = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        s.subject.places[pc].line = lines ? 10 + pc : 7;
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        if (view->flow.code->insns[pc].unit == UNIT_FMA && view->flow.code->insns[pc].uses == 3)
            subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, uses++ ? second : first);
    }
    sampled_end(&s);
    assert_int_equal(uses, 2);
    const Hit *hit = ask(&s, "code-reordering");
    assert_non_null(hit);
    f64 part = hit->change.stalls / (hit->change.stalls + hit->change.hidden);
    forget(&s);
    return part;
}

// Loads that start behind the wait for another wait once more in the turn; a turn earlier all start together, and the
// longest wait is left to overlap.
static void loads_behind_waits_wait_once(void **state) {
    (void)state;
    assert_float_equal(waited_once_more(ONE_BEHIND, true, 1000, 1000), 0.5, 1e-9);
    assert_float_equal(waited_once_more(ONE_BEHIND, true, 1000, 3000), 0.25, 1e-9);
    assert_float_equal(waited_once_more(TOGETHER, true, 1000, 1000), 0, 1e-9);
    assert_float_equal(waited_once_more(ONE_BEHIND, false, 1000, 3000), 0, 1e-9);  // one load, of two turns
}

// What the turn before has stored may be another thread's by the barrier, but for the word that is the thread's own.
static void what_a_barrier_hands_on_is_not_loaded_ahead(void **state) {
    (void)state;
#define HANDED_ON(barrier, place) \
    LOOP("ld.global.f32 %f1, [%rd3]; fma.rn.f32 %f2, %f1, %f1, %f2; st.global.f32 [%rd3" place "], %f2;\n" barrier, "1")
    assert_true(hidden(HANDED_ON("bar.sync 0;\n", "+4")) < 0);
    assert_true(hidden(HANDED_ON("bar.sync 0;\n", "")) > 0);
    assert_true(hidden(HANDED_ON("", "+4")) > 0);
}

#define WORK "add.f32 %f3, %f3, %f3;"
#define WORK_16 WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK
#define WORK_80 WORK_16 WORK_16 WORK_16 WORK_16 WORK_16
#define WORK_AROUND(before, behind)                                              \
    LOOP("mov.f32 %f3, 0f00000000; " before "ld.global.f32 %f1, [%rd3]; " behind \
         "fma.rn.f32 %f2, %f1, %f3, %f2; st.global.f32 [%rd3+1048576], %f2;\n",  \
         "1")

// Samples hidden when the load starts a turn earlier, whose only use has waited for it.
static f64 hidden_of_use(const char *body) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, body);
    const FlowInsn *insns = view->flow.code->insns;
    u32 store = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        if (insns[pc].is_store) store = pc;
    }
    subject_stall(&s.subject, store - 1, STALL_LONG_SCOREBOARD, 5000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "code-reordering");
    f64 most = hit ? fmin(hit->change.hidden, hit->change.scope_active) : -1;
    forget(&s);
    return most;
}

// A load a turn ahead overlaps all of a turn's work, 86 or 87 instructions; what lies between the load and its use
// overlaps it anyway.
static void far_uses_leave_less_to_overlap(void **state) {
    (void)state;
    f64 before = hidden_of_use(WORK_AROUND(WORK_80, "")), behind = hidden_of_use(WORK_AROUND("", WORK_80));
    assert_true(before >= 800 && before <= 900 && behind > 0);
    assert_float_equal(before - behind, 800, 1e-6);
}

// A word that each turn loads and stores is not there a turn ahead.
static void sums_in_memory_are_not_loaded_ahead(void **state) {
    (void)state;
    const f64 none = -1;
    assert_float_equal(
        hidden(BEGIN "mov.f32 %f2, 0f00000000; mov.u32 %r6, 0;\n"
                     "more: ld.global.f32 %f1, [%rd3]; fma.rn.f32 %f2, %f1, %f1, %f2; st.global.f32 [%rd3], %f2;\n"
                     "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;"),
        none, 0);
}

// How many accesses of a turn go when the sum is kept in a register.
static f64 kept_in_register(const char *also) {
    Sampled s;
    char body[1024] = BEGIN "mov.f32 %f2, 0f00000000; mov.u32 %r6, 0; mov.u64 %rd4, %rd3;\n"
                            "more: ld.global.f32 %f1, [%rd4]; ld.global.f32 %f3, [%rd3+4096];\n"
                            "fma.rn.f32 %f2, %f1, %f3, %f2; st.global.f32 [%rd3], %f2;\n";
    strcat(strcat(body, also), "add.s64 %rd4, %rd4, 4; add.s32 %r6, %r6, 1;\n"
                               "setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;");
    sample(&s, body);
    ask(&s, "redundant-loads");
    const Hit *hit = s.c.hits.data[s.c.hits.len - 1];
    assert_non_null(strstr(hit->what, "Keep what is stored"));
    const CasePart *part = &s.c.parts[0];
    f64 count = 2 * hit->change.issues / part->insns[part->accesses[0].pc].issued;  // turns are not known: half of them
    forget(&s);
    return count;
}

// With the loop's last store goes what only the store made the loop load again; not where another store is left.
static void loads_leave_with_the_last_store(void **state) {
    (void)state;
    assert_near(kept_in_register(""), 2);
    assert_near(kept_in_register("st.global.f32 [%rd4+1048576], %f2;\n"), 1);
}

#define TILE_TURN(k) \
    "ld.global.f32 %f1, [%rd3+4096*" #k "]; st.shared.f32 [tile+4*" #k "], %f1; bar.sync 0; add.f32 %f2, %f2, %f2;\n"

// What fills a tile can be loaded into a register a turn ahead, too; unrolled or not, the tile needs it before the next
// load starts.
static void what_fills_tiles_is_loaded_a_turn_ahead(void **state) {
    (void)state;
    f64 rolled = hidden(LOOP(TILE_TURN(0), "1")),
        unrolled = hidden(LOOP(TILE_TURN(0) TILE_TURN(1) TILE_TURN(2) TILE_TURN(3), "4"));
    assert_true(rolled > 0.03 && rolled < 0.1 && unrolled > 0.03 && unrolled < 0.1);
}

// A list of the smallest: what a branch lets through is stored into an array that is indexed by what is in it.
#define LIST(store)                                                                                          \
    BEGIN ".local .align 4 .b8 list[64]; mov.u32 %r6, 0; mov.u32 %r7, list;\n"                               \
          "more: ld.global.u32 %r8, [%rd3]; setp.gt.u32 %p2, %r8, 60; @%p2 bra next;\n"                      \
          "and.b32 %r9, %r8, 60; add.s32 %r9, %r9, %r7; " store                                              \
          "next: add.s64 %rd3, %rd3, 4096; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more;\n" \
          "ld.local.u32 %r10, [%r7]; st.global.u32 [%rd3], %r10; ret;"

static f64 long_waits(const Sampled *s, const Hit *hit) {
    (void)s;
    return samples_gone(hit, STALL_LONG_SCOREBOARD);
}

static f64 waits_gone(const char *body) { return measured(body, "register-reuse", long_waits); }

// With the list in registers no branch keeps the loads of four turns from starting together.
static void turns_around_a_list_load_together(void **state) {
    (void)state;
    assert_float_equal(waits_gone(LIST("st.local.u32 [%r9], %r8;")), 750, 1);
    assert_float_equal(waits_gone(LIST("ld.local.u32 %r11, [%r9]; add.s32 %r5, %r5, %r11;")), 0, 1);
}

// The L1 looks up four lines at once where their banks differ, as they do where data sends lanes anywhere.
static void lines_of_gathers_are_looked_up_together(void **state) {
    (void)state;
    CaseAccess a = {.space = SPACE_GLOBAL, .load = true, .bytes = 4, .lanes = 32, .fewest = 4};
    assert_float_equal(access_l1_cycles(&a, 32, 1), 32, 1e-9);
    a.gathered = true;
    assert_float_equal(access_l1_cycles(&a, 32, 1), 11.1, 1e-9);
    // All lanes load the same word: registers are filled 128 bytes a cycle (h200-l1-read.tsv: one/16).
    CaseAccess one = {.space = SPACE_GLOBAL, .load = true, .uniform = true, .bytes = 4, .lanes = 32, .fewest = 1};
    assert_float_equal(access_l1_cycles(&one, 1, 1), 1, 1e-9);
    one.bytes = 16;
    assert_float_equal(access_l1_cycles(&one, 1, 1), 4, 1e-9);
    Sampled s;
    sample(&s, BEGIN "ld.global.u32 %r6, [%rd3]; mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4;\n"
                     "ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd3], %f1; ret;");
    const CaseAccess *all = s.c.parts[0].accesses;
    assert_true(!all[0].gathered && all[1].gathered && !all[2].gathered);
    forget(&s);
}

// Whether the kernel's second load is taken for one that goes where data sends it. %r7 is what the CTA has loaded, %r6
// the same in a way that strides do not follow: the thread's index or the CTA's.
static bool is_gathered(const char *address) {
    Sampled s;
    char body[1024] = BEGIN "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r7, [%rd5];\n"
                            "setp.gt.u32 %p1, %r7, %r1; mov.u32 %r6, %r1; @%p1 add.s32 %r6, %r6, 128;\n";
    strcat(strcat(body, address), "mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r9, [%rd7];\n"
                                  "st.global.u32 [%rd3], %r9; ret;");
    sample(&s, body);
    bool gathered = s.c.parts[0].accesses[1].gathered;
    forget(&s);
    return gathered;
}

// A place that all lanes have in common sends none of them away from its neighbour; a step that they have in common
// does.
static void a_cta_begins_where_data_says(void **state) {
    (void)state;
    assert_false(is_gathered("add.s32 %r8, %r6, %r7;"));
    assert_true(is_gathered("mul.lo.s32 %r8, %r6, %r7;"));
}

// Loads of a table's row that data names: one word of it, which the CTA says. Neighbouring lanes are in rows of so many
// bytes then, and other CTAs want the rest of each.
#define ROW_OF(bytes, column)                                                                                   \
    BEGIN "ld.global.u32 %r6, [%rd3]; mul.wide.u32 %rd4, %r6, " bytes "; mul.wide.u32 %rd5, %r2, " column ";\n" \
          "add.s64 %rd6, %rd1, %rd4; add.s64 %rd6, %rd6, %rd5; ld.global.f32 %f1, [%rd6];\n"                    \
          "st.global.f32 [%rd3], %f1; ret;"

static f64 part_of_sectors(const Sampled *s, const Hit *hit) {
    return hit->change.relief[RESOURCE_LSU] / s->c.parts[0].insns[s->c.parts[0].accesses[1].pc].use[RESOURCE_LSU];
}

static void lanes_can_share_rows_that_data_names(void **state) {
    (void)state;
    assert_true(measured(ROW_OF("256", "4"), "global-coalescing", part_of_sectors) > 0.7);
    assert_float_equal(measured(ROW_OF("4", "4"), "global-coalescing", part_of_sectors), -1, 1e-9);     // no rows
    assert_float_equal(measured(ROW_OF("256", "64"), "global-coalescing", part_of_sectors), -1, 1e-9);  // no neighbours
}

// What a CTA reads of its shared memory, where that is known.
static f64 reach_of(const char *body) {
    Sampled s;
    sample(&s, body);
    f64 reach = case_shared_reach(&s.c);
    forget(&s);
    return reach;
}

#define TILE(load)                                                                                  \
    BEGIN ".shared .align 4 .b8 room[65536]; mov.u32 %r7, room; mad.lo.s32 %r8, %r1, 4, %r7;\n"     \
          "ld.global.u32 %r6, [%rd3]; st.shared.u32 [%r8], %r6; bar.sync 0; shl.b32 %r9, %r6, 2;\n" \
          "add.s32 %r9, %r9, %r7; ld.shared.u32 %r10, [" load "]; st.global.u32 [%rd3], %r10; ret;"

static void shared_memory_is_read_as_far_as_loads_go(void **state) {
    (void)state;
    assert_near(reach_of(TILE("%r8")), 128 * 4);
    assert_near(reach_of(TILE("%r8+1024")), 1024 + 128 * 4);
    assert_near(reach_of(TILE("%r9")), 0);  // where data says
}

// Four turns of a loop through shared memory, or none, and behind it another one that goes on where it ended, by
// `step`.
#define REST(step)                                                                                    \
    BEGIN ".shared .align 4 .b8 room[65536]; mov.u32 %r7, room; mad.lo.s32 %r8, %r1, 4, %r7;\n"       \
          "mov.u32 %r6, 0; mov.u32 %r10, 0; setp.lt.s32 %p1, %r5, 4; @%p1 bra rest;\n"                \
          "many: ld.shared.u32 %r9, [%r8]; add.u32 %r10, %r10, %r9; add.u32 %r8, %r8, 1024;\n"        \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, 4; @%p2 bra many;\n"                            \
          "rest: ld.shared.u32 %r9, [%r8]; add.u32 %r10, %r10, %r9; " step "; add.s32 %r6, %r6, 1;\n" \
          "setp.lt.s32 %p3, %r6, %r5; @%p3 bra rest; st.global.u32 [%rd3], %r10; ret;"

// What is left behind a loop is read behind all that the loop went through; the top of a stack may be anywhere.
static void what_loops_leave_is_read_behind_them(void **state) {
    (void)state;
    assert_near(reach_of(REST("add.u32 %r8, %r8, 512")), 3 * 1024 + 512 + 512);
    assert_near(reach_of(REST("setp.gt.u32 %p4, %r9, 7; @%p4 add.u32 %r8, %r8, 512")), 0);
}

// What a change adds to another unit makes no limit that the change itself does not have: a limit is that of four times
// the change, which would fill the other unit.
static void added_work_is_no_limit(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN "st.global.u32 [%rd3], %r4; ret;");
    s.c.load = (EstimateLoad){.total = 1000, .issued = 100, .latency = 500, .issue_rate = 0.5};
    s.c.load.busy[RESOURCE_FP64] = 0.9;
    s.c.rule = &advice_rules[0];
    Hit *hit = hit_begin(&s.c);
    hit->change.stalls = 700;
    hit_relieve(hit, RESOURCE_FP64, 0.9);
    hit_relieve(hit, RESOURCE_FMA, -0.2);
    AdviceEstimate e;
    hit_estimate(hit, &e);
    f64 four_times = 1 / (4 * 0.2);
    assert_true(e.model > 1.5 * four_times && e.limit >= e.model);
    hit_drop(hit);
    forget(&s);
}

// Records of six words, a lane each: a load meets two words of a bank; a store touches six lines, and of three to the
// same records those of few warps leave together.
static void records_in_the_l1(void **state) {
    (void)state;
    static const GpuModel gpu = {.sms = 100, .warp_schedulers = 4, .l1_join = 10};
    Sampled s;
    sample(&s, BEGIN "mul.wide.s32 %rd4, %r4, 24; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r6, [%rd5];\n"
                     "st.global.u32 [%rd5+4], %r6; st.global.u32 [%rd5+8], %r6; st.global.u32 [%rd5+12], %r6; ret;");
    const CasePart *part = &s.c.parts[0];
    assert_int_equal(part->access_count, 4);
    const CaseAccess *load = &part->accesses[0], *store = &part->accesses[1];
    assert_near(access_l1_cycles(load, load->sectors, 1), 2);
    assert_near(access_l1_cycles(store, store->sectors, 1), 6);
    s.c.gpu = &gpu;
    s.c.warps = 2;
    case_join_stores(&s.c);
    f64 few = store->leaving;
    s.c.warps = 16;
    case_join_stores(&s.c);
    assert_near(store->sectors, 24);
    assert_true(few > 8 && few < 12);
    assert_near(store->leaving, 24);
    assert_near(load->leaving, load->sectors);
    forget(&s);
}

// %r7, of a stream, says where to look in a table, and that (%r8) where to look in the next.
#define TABLES(also)                                                                          \
    BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.u32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "ld.global.u32 %r8, [%rd5]; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6;\n" \
          "ld.global.u32 %r9, [%rd7]; " also "st.shared.u32 [tile], %r9; ret;"

// The same along a list that begins where data says.
#define LIST_OF_PLACES                                                                                        \
    BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.u32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r6, 0;\n" \
          "more: ld.global.u32 %r8, [%rd5]; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6;\n"           \
          "ld.global.u32 %r9, [%rd7]; st.shared.u32 [tile], %r9; add.s64 %rd5, %rd5, 4;\n"                    \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; ret;"

static f64 waits_for_load_gone(const Sampled *s, const Hit *hit) {
    (void)s;
    return hit->change.stalls;
}

// Two tables that lead to each other are one, unless what the first has is wanted for itself.
static void tables_behind_tables_are_one(void **state) {
    (void)state;
    assert_near(measured(TABLES(""), "indirect-addressing", waits_for_load_gone), 1000);
    assert_near(measured(TABLES("add.s32 %r9, %r9, %r8; "), "indirect-addressing", waits_for_load_gone), -1);
    assert_near(measured(LIST_OF_PLACES, "indirect-addressing", waits_for_load_gone), -1);
}

// Instructions of one line of the source, which are issued as often as each other.
static void sample_line(Sampled *s, const char *body) {
    const KernelView *view = sampled_begin(s, body);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        s->subject.places[pc].line = 7;
    }
    sampled_end(s);
}

// Ten instructions of one line, one of them the special function unit's, one with the constant that tells a function.
#define FUNCTION(coefficient)                                                                               \
    BEGIN "ld.global.f32 %f1, [%rd3]; ex2.approx.f32 %f2, %f1; fma.rn.f32 %f3, %f2, %f1, " coefficient      \
          "; mul.f32 %f3, %f3, %f1; mul.f32 %f3, %f3, %f1; mul.f32 %f3, %f3, %f1; mul.f32 %f3, %f3, %f1;\n" \
          "mul.f32 %f3, %f3, %f1; mul.f32 %f3, %f3, %f1; st.global.f32 [%rd3], %f3; ret;"

// What the unit has to do less, of what it has to do.
static f64 special_gone(const char *body) {
    Sampled s;
    sample_line(&s, body);
    const Hit *hit = ask(&s, "fast-math");
    f64 gone = hit ? hit->change.relief[RESOURCE_XU] / s.c.load.busy[RESOURCE_XU] : -9;
    forget(&s);
    return gone;
}

// The fast exponential has the same operation of the special function unit as the exact one, the fast sine and
// logarithm have one where the exact ones have none, and of tanhf's two one is left.
static void fast_functions_need_the_special_unit(void **state) {
    (void)state;
    assert_near(special_gone(FUNCTION("0fcb40007f")), 0);
    assert_near(special_gone(FUNCTION("0f3d2aaabb")), -1);
    assert_near(special_gone(FUNCTION("0f3e1039f6")), -1);
    assert_true(special_gone(FUNCTION("0f3c80f082")) > 0.9);
}

// Divides what a loop loads by what `divisor` leaves in %f3.
#define QUOTIENTS(ahead, inside)                                                                          \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f4, 0f00000000; ld.global.f32 %f3, [%rd3+4096]; " ahead               \
          "turn: ld.global.f32 %f1, [%rd3]; " inside "div.rn.f32 %f2, %f1, %f3; add.f32 %f4, %f4, %f2;\n" \
          "add.s64 %rd3, %rd3, 4; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn;\n"       \
          "st.global.f32 [%rd1], %f4; ret;"

static bool divides_ahead(const char *body) {
    Sampled s;
    sample_line(&s, body);
    const Hit *hit = ask(&s, "strength-reduction");
    bool does = hit && strstr(hit->what, "Divide once");
    forget(&s);
    return does;
}

// What all turns divide by is divided by once; what turns change is not.
static void one_reciprocal_serves_a_loop(void **state) {
    (void)state;
    assert_true(divides_ahead(QUOTIENTS("", "")));
    assert_true(divides_ahead(QUOTIENTS("add.f32 %f3, %f3, %f3; ", "")));
    assert_false(divides_ahead(QUOTIENTS("", "add.f32 %f3, %f3, 0f3F800000; ")));
    assert_false(divides_ahead(QUOTIENTS("", "ld.global.f32 %f3, [%rd3+8192]; ")));
}

// powf as far as it is looked for, in one line of the source.
#define POWER(exponent, coefficient)                                                                                  \
    BEGIN "ld.global.f32 %f1, [%rd3]; mul.f32 %f2, %f1, " exponent "; neg.f32 %f3, %f2;\n"                            \
          "fma.rn.f32 %f4, %f1, " exponent ", %f3; fma.rn.f32 %f5, %f4, %f4, " coefficient "; st.global.f32 [%rd3], " \
          "%f5; ret;"

static bool multiplies_instead(const char *body) {
    Sampled s;
    sample_line(&s, body);
    const Hit *hit = ask(&s, "strength-reduction");
    bool does = hit && strstr(hit->what, "powf");
    forget(&s);
    return does;
}

// A whole power is a product of few factors, one of halves, quarters and thirds of roots as well, a negative one its
// reciprocal; no other is, nor one that takes more products than __powf instructions.
static void small_powers_are_products_and_roots(void **state) {
    (void)state;
    assert_true(multiplies_instead(POWER("0f40800000", "0f3d6357bb")));   // 4
    assert_true(multiplies_instead(POWER("0f40900000", "0f3d6357bb")));   // 4.5
    assert_true(multiplies_instead(POWER("0f3f400000", "0f3d6357bb")));   // 3/4
    assert_true(multiplies_instead(POWER("0f3f2aaaab", "0f3d6357bb")));   // 2/3
    assert_true(multiplies_instead(POWER("0fc0000000", "0f3d6357bb")));   // -2
    assert_true(multiplies_instead(POWER("0fbfc00000", "0f3d6357bb")));   // -3/2
    assert_false(multiplies_instead(POWER("0fc0966666", "0f3d6357bb")));  // -4.7
    assert_false(multiplies_instead(POWER("0f3f2aaa00", "0f3d6357bb")));  // nearly
    assert_false(multiplies_instead(POWER("0f40966666", "0f3d6357bb")));  // 4.7
    assert_false(multiplies_instead(POWER("0f447a0000", "0f3d6357bb")));  // 1000
    assert_false(multiplies_instead(POWER("0f40800000", "0f3d6357bc")));  // not powf
}

// Part of what is issued that goes.
static f64 issues_gone(const Sampled *s, const Hit *hit) { return hit->change.issues / s->c.load.issued; }

// A remainder by a number as the compiler takes it in PTX: the product with the reciprocal, corrections, and what is
// left.
#define REMAINDER(divisor)                                                                             \
    BEGIN "ld.global.u64 %rd4, [%rd3]; mul.hi.u64 %rd5, %rd4, 8589934597; sub.s64 %rd6, %rd4, %rd5;\n" \
          "shr.u64 %rd7, %rd6, 1; add.s64 %rd8, %rd7, %rd5; shr.u64 %rd9, %rd8, 30;\n"                 \
          "mul.lo.s64 %rd10, %rd9, " divisor "; sub.s64 %rd11, %rd4, %rd10; st.global.u64 [%rd3], %rd11; ret;"

static f64 folded(const char *body) {
    Sampled s;
    sample_line(&s, body);
    return measured_of(&s, "strength-reduction", issues_gone);
}

// By 2^31 - 1 the upper bits can be added to the lower ones: five instructions instead of seven of 17.
static void remainders_that_ptx_spells_out_are_folded(void **state) {
    (void)state;
    assert_float_equal(folded(REMAINDER("2147483647")), 2.0 / 17, 0.03);
    assert_near(folded(REMAINDER("2147483646")), -1);
}

// A value that a loop of its own brings below another, by `step`.
#define NEARER(step)                                                                                              \
    BEGIN "ld.shared.f32 %f1, [tile]; ld.shared.f32 %f2, [tile+4]; ld.shared.f32 %f4, [tile+8];\n"                \
          "setp.leu.f32 %p1, %f1, %f2; @%p1 bra near;\nmore: " step "; setp.gt.f32 %p2, %f1, %f2; @%p2 bra more;" \
          "\nnear: st.global.f32 [%rd3], %f1; ret;"

// Where a loop ends that takes steps follows from where it begins: a product, a rounding and a sum instead of the three
// instructions of its turns and of the test before it. Not where a turn makes more of the value, or asks memory.
static void loops_that_bring_a_value_near_go(void **state) {
    (void)state;
    const char *rule = "branch-elimination";
    f64 all = 20;  // instructions, all as often
    assert_float_equal(measured(NEARER("sub.f32 %f1, %f1, %f4"), rule, issues_gone), (3.0 + 2 - 3) / all, 0.03);
    assert_true(measured(NEARER("mul.f32 %f1, %f1, 0f3f000000"), rule, issues_gone) > 0);
    assert_near(measured(NEARER("fma.rn.f32 %f1, %f1, %f4, %f2"), rule, issues_gone), -1);
    assert_near(measured(NEARER("mul.f32 %f1, %f1, %f1"), rule, issues_gone), -1);
    assert_near(measured(NEARER("sub.f32 %f1, %f1, %f4; st.global.f32 [%rd3+16], %f1"), rule, issues_gone), -1);
    assert_near(measured(NEARER("ld.volatile.global.f32 %f5, [%rd3]; sub.f32 %f1, %f1, %f5"), rule, issues_gone), -1);
}

// Eight sums and products of %f1, once with one value and once with another.
#define FOUR(value) \
    "mul.f32 %f1, %f1, " value "; add.f32 %f1, %f1, " value "; mul.f32 %f1, %f1, %f1; add.f32 %f1, %f1, " value ";\n"
#define TWO_WAYS(test, first, second)                                                                       \
    BEGIN "ld.shared.f32 %f1, [tile]; ld.shared.f32 %f2, [tile+4]; " test "; @%p1 bra other;\n" first first \
          "bra near;\nother: " second second "near: st.global.f32 [%rd3], %f1; ret;"
#define BY_LANE "setp.gt.s32 %p1, %r1, 7"

// Two ways that do the same with other values, both of them run as often as the branch: eight instructions of each run
// once then, and the branch and the jump go. Not where the ways differ, or all lanes take the same.
static void ways_that_are_alike_are_one(void **state) {
    (void)state;
    const char *rule = "branch-elimination";
    f64 gone = measured(TWO_WAYS(BY_LANE, FOUR("%f2"), FOUR("%f3")), rule, issues_gone);
    assert_float_equal(gone, (8.0 + 2) / 31, 0.03);
    assert_near(measured(TWO_WAYS(BY_LANE, FOUR("%f2"), "min.f32 %f1, %f1, %f2; neg.f32 %f1, %f1;"), rule, issues_gone),
                -1);
    assert_near(measured(TWO_WAYS("setp.gt.s32 %p1, %r5, 7", FOUR("%f2"), FOUR("%f3")), rule, issues_gone), -1);
    // A third way leaves one of them.
    assert_true(measured(TWO_WAYS(BY_LANE, FOUR("%f2"), "setp.gt.s32 %p2, %r1, 20; @%p2 bra near;" FOUR("%f3")), rule,
                         issues_gone) > 0);
}

static bool may_differ(const char *end) {
    Sampled s;
    char body[1024] =
        BEGIN "mov.u32 %r6, 0;\nmore: ld.global.u32 %r7, [%rd3]; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, ";
    strcat(strcat(body, end), "; @%p1 bra more; ret;");
    sample(&s, body);
    bool differ = ctas_may_differ(&s.c);
    forget(&s);
    return differ;
}

// A loop that ends where the CTA's number or data says; one that ends where a constant or an argument does.
static void work_of_ctas(void **state) {
    (void)state;
    assert_true(may_differ("%r2"));
    assert_true(may_differ("%r7"));
    assert_false(may_differ("64"));
    assert_false(may_differ("%r5"));
}

// Data decides the word, and no load waits long: the queue that the atomics fill and the end of the warps, which waits
// for them, say that they meet.
static void atomics_that_hold_their_warps_meet(void **state) {
    (void)state;
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4;\n"
                                               "add.s64 %rd5, %rd1, %rd4; red.global.add.u32 [%rd5], 1; ret;");
    u32 end = view->flow.code->insn_count - 1;
    view->gpu = &gpu_of_atomics;
    for (u32 pc = 0; pc <= end; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, 10);
    subject_stall(&s.subject, end - 1, STALL_LG_THROTTLE, 100);
    subject_stall(&s.subject, end, STALL_DRAIN, 9000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "atomic-contention");
    assert_non_null(hit);
    assert_true(s.c.load.busy[RESOURCE_ATOMIC] > 0.95 && hit->change.relief[RESOURCE_ATOMIC] > 0.8);
    forget(&s);
}

// Two thirds of all samples wait in the atomics' line, which the whole GPU's warps fill: the L2 has no rest. A sixth
// are others'.
static void a_line_of_most_warps_does_not_run_empty(void **state) {
    (void)state;
    for (u32 waits = 1000; waits <= 6000; waits += 5000) {
        Sampled s;
        KernelView *view = sampled_begin(&s, BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4;\n"
                                                   "add.s64 %rd5, %rd1, %rd4; red.global.add.u32 [%rd5], 1; ret;");
        u32 end = view->flow.code->insn_count - 1;
        view->gpu = &gpu_of_atomics;
        for (u32 pc = 0; pc <= end; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, 1);
        subject_stall(&s.subject, end, STALL_DRAIN, waits);
        subject_stall(&s.subject, 2, STALL_WAIT, waits > 3000 ? 3000 : 5000);
        sampled_end(&s);
        f64 busy = s.c.load.busy[RESOURCE_ATOMIC];
        assert_true(waits > 3000 ? busy > 0.9 : busy < 0.3);
        forget(&s);
    }
}

// Samples of a loop that waits for its loads; `atomics` in it or behind it add to words of shared memory that data
// names, and so many wait for its queue.
#define ATOMICS "red.shared.add.u32 [%r9], %r7;\n"

static f64 cycles_of_atomic(const char *within, const char *behind, u32 queue, const Hit **hit, Sampled *s) {
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .clock_mhz = 2000,
                                 .l1_latency = 30,
                                 .l2_latency = 200,
                                 .dram_latency = 300,
                                 .shared_per_sm = 200000};
    char body[1024] = BEGIN "mov.u32 %r8, 0; mov.u32 %r10, tile;\n"
                            "more: ld.global.u32 %r7, [%rd3]; and.b32 %r9, %r7, 252; add.s32 %r9, %r9, %r10;\n";
    strcat(strcat(body, within), "add.s64 %rd3, %rd3, 512; add.s32 %r8, %r8, 1;\n"
                                 "setp.lt.s32 %p1, %r8, %r5; @%p1 bra more;\n");
    KernelView *view = sampled_begin(s, strcat(strcat(body, behind), "ret;"));
    s->subject.function.shared_bytes = 1024;
    view->gpu = &gpu;
    view->occupancy.ctas_per_sm = 8;
    view->occupancy.warps_per_sm = 32;
    u32 atomic = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, 10000);
        if (view->flow.code->insns[pc].is_atomic) atomic = pc;
    }
    if (queue) subject_stall(&s->subject, atomic, STALL_MIO_THROTTLE, queue);
    view->total_latency = view->total * 9 / 10;
    sampled_end(s);
    *hit = ask(s, "atomic-contention");
    return s->c.parts[0].insns[atomic].turn / gpu.warp_schedulers;
}

// What loads wait longer is behind the atomics of their loop: they take long, and copies of what they add to help,
// whether or not the queue of shared memory is ever full. Atomics behind the loop are taken for what random ones take.
static void atomics_meet_in_shared_memory(void **state) {
    (void)state;
    Sampled s;
    const Hit *hit;
    for (u32 queue = 0; queue <= 2000; queue += 2000) {
        f64 cycles = cycles_of_atomic(ATOMICS, "", queue, &hit, &s);
        assert_non_null(hit);
        assert_true(cycles > 2 * ACCESS_AT_RANDOM && cycles <= 32 + 1e-6);
        assert_true(hit->change.relief[RESOURCE_LSU] > 0.8 * s.c.load.busy[RESOURCE_LSU] && hit->doubtful);
        forget(&s);
    }
    f64 cycles = cycles_of_atomic("", ATOMICS, 0, &hit, &s);
    assert_null(hit);
    assert_float_equal(cycles, ACCESS_AT_RANDOM, 1e-6);
    forget(&s);
}

// A loop of five turns, up to `end`; in the one within, of sixteen turns at once, nobody was ever seen.
#define NEST(end)                                                                                                   \
    BEGIN "mov.f32 %f2, 0f00000000; mov.u32 %r6, 0;\n"                                                              \
          "more: setp.lt.s32 %p1, %r5, 16; mov.u32 %r7, 0; @%p1 bra rest;\n"                                        \
          "many: ld.global.f32 %f3, [%rd3]; add.f32 %f2, %f2, %f3; add.s64 %rd3, %rd3, 64; add.s32 %r7, %r7, 16;\n" \
          "setp.lt.s32 %p2, %r7, %r5; @%p2 bra many;\n"                                                             \
          "rest: ld.global.f32 %f1, [%rd3+4]; add.f32 %f2, %f2, %f1; add.s64 %rd3, %rd3, 4096;\n"                   \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p3, %r6, " end "; @%p3 bra more; st.global.f32 [%rd1], %f2; ret;"

static f64 issues_of_nest(const char *body) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, body);
    const FlowResults *flow = &view->flow;
    for (u32 pc = 0; pc < flow->code->insn_count; pc++) {
        u32 loop = flow->loops->loop_of[flow->cfg->block_of[pc]];
        bool within = loop != WL_NONE && flow->loops->loops[loop].parent != WL_NONE;
        if (!within) subject_stall(&s.subject, pc, STALL_SELECTED, loop == WL_NONE ? 10 : 50);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "loop-unrolling");
    f64 issues = hit ? hit->change.issues : -1;
    forget(&s);
    return issues;
}

// Where the launch decides how few turns there are, all but the load and the sum can go: three instructions of the
// first block and four of the second. Where each thread decides it nothing does.
static void few_turns_can_be_constant(void **state) {
    (void)state;
    assert_near(issues_of_nest(NEST("%r5")), 50 * (3 + 4));
    assert_near(issues_of_nest(NEST("%r1")), -1);
}

// A loop of four turns at once whose end each lane's data says, and one of those that are left, so many lines behind
// it.
static f64 issues_of_uneven(u32 lines) {
    Sampled s;
    const KernelView *view = sampled_begin(
        &s, BEGIN "ld.global.u32 %r7, [%rd3]; mov.u32 %r8, 0; and.b32 %r9, %r7, 3; mov.f32 %f1, 0f00000000;\n"
                  "four: add.f32 %f1, %f1, %f1; add.s32 %r8, %r8, 4; setp.lt.s32 %p1, %r8, %r7;\n"
                  "@%p1 bra four;\n"
                  "one: add.f32 %f1, %f1, %f1; sub.s32 %r9, %r9, 1; setp.gt.s32 %p2, %r9, 0; @%p2 bra one;\n"
                  "st.global.f32 [%rd3], %f1; ret;");
    const FlowResults *flow = &view->flow;
    u32 first = WL_NONE;
    for (u32 pc = 0; pc < flow->code->insn_count; pc++) {
        u32 loop = flow->loops->loop_of[flow->cfg->block_of[pc]];
        if (first == WL_NONE) first = loop;
        subject_stall(&s.subject, pc, STALL_SELECTED, loop == WL_NONE ? 10 : loop == first ? 1000 : 100);
        s.subject.places[pc].line = 7 + (loop == first ? 0 : lines);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "divergence");
    assert_non_null(hit);
    f64 issues = hit->change.issues;
    forget(&s);
    return issues;
}

// What is left of an unrolled loop's turns is of the same length as they are: one change.
static void rests_of_loops_are_evened_out_with_them(void **state) {
    (void)state;
    f64 apart = issues_of_uneven(1), together = issues_of_uneven(0);
    assert_true(apart > 0);
    assert_near(together / apart, 1.1);
}

// Where a loop goes on by a number that is known at run time only the compiler divides by it to count the turns, which
// nobody wrote.
#define STRIDES(step)                                                                                 \
    BEGIN "sub.s32 %r7, %r5, %r4; mov.u32 %r6, %r4; mov.f32 %f2, 0f00000000; div.u32 %r8, %r7, %r3; " \
          "more: ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f2, %f1; add.s32 %r6, %r6, " step "; "      \
          "setp.lt.s32 %p1, %r6, %r5; @%p1 bra more; st.global.u32 [%rd3], %r8; ret;"

static bool is_told(const char *body, const char *what) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "strength-reduction");
    bool told = hit && strstr(hit->what, what);
    forget(&s);
    return told;
}

static void turns_are_counted_by_divisions(void **state) {
    (void)state;
    assert_true(is_told(STRIDES("%r3"), "pragma unroll 1"));
    assert_false(is_told(STRIDES("%r3"), "Replace the division"));
    assert_true(is_told(STRIDES("1"), "Replace the division"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_turns_of_an_unrolled_loop_are_under_way),
                                       cmocka_unit_test(turns_that_are_under_way_gain_little),
                                       cmocka_unit_test(what_a_barrier_hands_on_is_not_loaded_ahead),
                                       cmocka_unit_test(turns_are_counted_by_divisions),
                                       cmocka_unit_test(far_uses_leave_less_to_overlap),
                                       cmocka_unit_test(loads_behind_waits_wait_once),
                                       cmocka_unit_test(sums_in_memory_are_not_loaded_ahead),
                                       cmocka_unit_test(loads_leave_with_the_last_store),
                                       cmocka_unit_test(what_fills_tiles_is_loaded_a_turn_ahead),
                                       cmocka_unit_test(turns_around_a_list_load_together),
                                       cmocka_unit_test(lines_of_gathers_are_looked_up_together),
                                       cmocka_unit_test(a_cta_begins_where_data_says),
                                       cmocka_unit_test(lanes_can_share_rows_that_data_names),
                                       cmocka_unit_test(shared_memory_is_read_as_far_as_loads_go),
                                       cmocka_unit_test(what_loops_leave_is_read_behind_them),
                                       cmocka_unit_test(added_work_is_no_limit),
                                       cmocka_unit_test(records_in_the_l1),
                                       cmocka_unit_test(tables_behind_tables_are_one),
                                       cmocka_unit_test(fast_functions_need_the_special_unit),
                                       cmocka_unit_test(one_reciprocal_serves_a_loop),
                                       cmocka_unit_test(small_powers_are_products_and_roots),
                                       cmocka_unit_test(remainders_that_ptx_spells_out_are_folded),
                                       cmocka_unit_test(loops_that_bring_a_value_near_go),
                                       cmocka_unit_test(ways_that_are_alike_are_one),
                                       cmocka_unit_test(work_of_ctas),
                                       cmocka_unit_test(atomics_meet_in_shared_memory),
                                       cmocka_unit_test(few_turns_can_be_constant),
                                       cmocka_unit_test(rests_of_loops_are_evened_out_with_them),
                                       cmocka_unit_test(a_line_of_most_warps_does_not_run_empty),
                                       cmocka_unit_test(atomics_that_hold_their_warps_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
