// SPDX-License-Identifier: Apache-2.0
// What single instructions are too little for and several together are not: atomics, bytes of a word, wide numbers.
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 2000,
                             .noc_clock_mhz = 1600,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300,
                             .l2_atomic_interval = 50,
                             .shared_per_sm = 200000};

// Each instruction was caught issuing ten times; what comes after a load of global memory waited for it.
static void sample(Sampled *s, const char *body) {
    KernelView *view = sampled_begin(s, body);
    s->subject.function.shared_bytes = 1024;
    view->gpu = &gpu;
    view->launches.total_ns = 15000;
    view->occupancy.ctas_per_sm = 8;
    view->occupancy.warps_per_cta = 4;
    view->occupancy.warps_per_sm = 32;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, 10000);
    }
    view->total_latency = view->total * 9 / 10;
    sampled_end(s);
}

// The most that one atomic keeps the resource busy.
static f64 most_of_one(const Sampled *s, Resource resource) {
    const CasePart *part = &s->c.parts[0];
    f64 most = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        f64 use = part->insns[part->accesses[i].pc].use[resource];
        if (part->accesses[i].atomic && use > most) most = use;
    }
    return most;
}

// --- atomics ---------------------------------------------------------------------------------------------------------
#define WORTH_IT 0.2  // of the time, as rules/atomics.c has it

// Each turn adds to eight words of shared memory that data names.
#define ADD_SHARED(n) "red.shared.add.u32 [%r9+4*" #n "], %r7;\n"
#define EIGHT_COUNTERS                                                                                       \
    BEGIN "mov.u32 %r8, 0; mov.u32 %r10, tile;\n"                                                            \
          "more: ld.global.u32 %r7, [%rd3]; and.b32 %r9, %r7, 252; add.s32 %r9, %r9, %r10;\n" ADD_SHARED(0)  \
              ADD_SHARED(1) ADD_SHARED(2) ADD_SHARED(3) ADD_SHARED(4) ADD_SHARED(5) ADD_SHARED(6)            \
                  ADD_SHARED(7) "add.s64 %rd3, %rd3, 512; add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, %r5;\n" \
                                "@%p1 bra more; ret;"

// Whether they are advised when each takes so much of what it takes now.
static bool counters_advised(f64 part) {
    Sampled s;
    sample(&s, EIGHT_COUNTERS);
    for (u32 i = 0; i < s.c.parts[0].access_count; i++)
        s.c.parts[0].insns[s.c.parts[0].accesses[i].pc].use[RESOURCE_LSU] *= part;
    assert_true(most_of_one(&s, RESOURCE_LSU) < WORTH_IT);
    const Hit *hit = ask(&s, "atomic-contention");
    assert_true(!hit || strstr(hit->what, "in shared memory"));
    forget(&s);
    return hit != NULL;
}

// Copies of an unrolled loop's atomics on shared memory are each too little to be advised, not all of them.
static void counters_in_shared_memory_count_together(void **state) {
    (void)state;
    assert_true(counters_advised(1));
    assert_false(counters_advised(1.0 / 8));
}

// All threads add to words that are the same for all.
#define ADD_WORD(n) "red.global.add.u32 [%rd1+4*" #n "], %r4;\n"

// How many of such words are advised.
static u32 words_advised(const char *body) {
    Sampled s;
    sample(&s, body);
    f64 most = most_of_one(&s, RESOURCE_ATOMIC);
    assert_true(most > 0.05 && most < WORTH_IT);
    ask(&s, "atomic-contention");
    u32 count = s.c.hits.len;
    forget(&s);
    return count;
}

// 4000 warps add to a word in 2500 of the 30,000 cycles, to six of them in half of these.
static void words_of_all_threads_count_together(void **state) {
    (void)state;
    assert_int_equal(words_advised(BEGIN ADD_WORD(0) "ret;"), 0);
    assert_int_equal(
        words_advised(BEGIN ADD_WORD(0) ADD_WORD(1) ADD_WORD(2) ADD_WORD(3) ADD_WORD(4) ADD_WORD(5) "ret;"), 6);
}

// Sectors that lanes touch where data sends them are a guess, which is no reason to think that the L1 is what is full.
#define ADD_BY_DATA "red.global.add.u32 [%rd5], 1; red.global.add.u32 [%rd5+4], 1;\n"

// Words that data names, and what is done beside them.
#define ADDS_BY_DATA(also)                                          \
    BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4;\n" \
          "add.s64 %rd5, %rd1, %rd4; " ADD_BY_DATA ADD_BY_DATA also " ret;"

// How busy they keep the L2's atomic units, and the L1, as far as that is known, where schedulers issue at a rate.
static f64 busy_by_data(const char *body, f64 rate, f64 *l1) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    view->gpu = &gpu_of_atomics;
    u32 by_data = 4;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        bool atomic = view->flow.code->insns[pc].is_atomic, rare = atomic && !by_data;
        by_data -= atomic && by_data;
        subject_stall(&s.subject, pc, STALL_SELECTED, rare ? 1 : 100);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 1000000);
        if (atomic && !rare) subject_stall(&s.subject, pc, STALL_LG_THROTTLE, 30000);
    }
    view->total_latency = view->total - (u64)(rate * (f64)view->total);
    sampled_end(&s);
    *l1 = s.c.load.busy[RESOURCE_LSU];
    ask(&s, "atomic-contention");
    f64 busy = s.c.load.busy[RESOURCE_ATOMIC];
    assert_int_equal(s.c.hits.len, 1);
    assert_non_null(strstr(s.c.hits.data[0]->what, "in shared memory"));
    forget(&s);
    return busy;
}

static void lanes_that_meet_do_not_fill_the_l1(void **state) {
    (void)state;
    f64 l1;
    assert_true(busy_by_data(ADDS_BY_DATA(""), 0.1, &l1) > 0.5 && l1 > EXPLAINED);
}

// `if (label) ...` asks the data, not for one lane: as many as there are may meet.
static void lanes_that_data_lets_in_may_be_many(void **state) {
    (void)state;
    f64 l1;
    const char *body = BEGIN "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n"
                             "setp.eq.s32 %p2, %r7, 0; @%p2 bra over;\n" ADD_BY_DATA ADD_BY_DATA "over: ret;";
    assert_true(busy_by_data(body, 0.003, &l1) > 0.5);
}

// A counter of what hardly ever happens, the same word for all threads, explains no more than the time that it takes.
static void a_word_of_all_threads_does_not_hide_those_of_data(void **state) {
    (void)state;
    f64 l1;
    assert_true(busy_by_data(ADDS_BY_DATA("setp.ne.s32 %p2, %r7, 0; @%p2 bra over;\n"
                                          "red.global.add.u32 [%rd1+4096], 1; over:"),
                             0.1, &l1) > 0.5);
}

// --- numbers that are wide -------------------------------------------------------------------------------------------
// The word of a table in shared memory that a loaded number names, and what else becomes of the number.
#define PLACE_IN_SHARED(also)                                                                     \
    BEGIN "mov.u32 %r9, tile; mov.u32 %r10, 0; ld.global.u32 %r6, [%rd3]; shl.b32 %r7, %r6, 2;\n" \
          "add.s32 %r8, %r7, %r9; ld.shared.f32 %f1, [%r8];\n" also "st.global.f32 [%rd3+1048576], %f1; ret;"
#define BYTE_IN_SHARED                                                                                      \
    BEGIN "mov.u32 %r9, tile; ld.global.u32 %r6, [%rd3]; add.s32 %r8, %r6, %r9; ld.shared.u8 %r7, [%r8];\n" \
          "st.global.u32 [%rd3+1048576], %r7; ret;"

// Bytes that the loaded word should have with DRAM so busy, and DRAM is relieved of the others.
static u32 bytes_of(const char *body, u32 shared_bytes, f64 dram) {
    Sampled s;
    sample(&s, body);
    s.subject.function.shared_bytes = shared_bytes;
    s.c.load.busy[RESOURCE_DRAM] = dram;
    s.c.parts[0].insns[s.c.parts[0].accesses[0].pc].use[RESOURCE_DRAM] = dram / 2;
    const Hit *hit = ask(&s, "memory-transactions");
    const char *in = hit ? strstr(hit->what, " in ") : NULL;
    u32 bytes = in && strstr(in, "a number instead of 4") ? (u32)(in[4] - '0') : 4;
    f64 left = 4 - (hit ? 4 * hit->change.relief[RESOURCE_DRAM] / (dram / 2) : 0);
    forget(&s);
    assert_near(left, bytes);
    return bytes;
}

// A byte names each of 256 words or bytes, two bytes any word that a CTA can have, but not any byte.
static void places_of_shared_memory_fit_a_byte_or_two(void **state) {
    (void)state;
    assert_int_equal(bytes_of(PLACE_IN_SHARED(""), 288, 0.9), 1);
    assert_int_equal(bytes_of(PLACE_IN_SHARED(""), 1024, 0.9), 1);
    assert_int_equal(bytes_of(PLACE_IN_SHARED(""), 4096, 0.9), 2);
    assert_int_equal(bytes_of(PLACE_IN_SHARED(""), 288, 0.3), 4);  // DRAM has time
    assert_int_equal(bytes_of(BYTE_IN_SHARED, 256, 0.9), 1);
    assert_int_equal(bytes_of(BYTE_IN_SHARED, 1000, 0.9), 2);
    assert_int_equal(bytes_of(BYTE_IN_SHARED, 200000, 0.9), 4);
}

// A number that is added up, or stored, in global or in shared memory, or that names a place of global memory says
// more.
#define ADDED_UP "add.s32 %r10, %r10, %r6; st.global.u32 [%rd1], %r10;\n"
#define GLOBAL_PLACE "mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f2, [%rd5];\n"

static void numbers_that_are_used_stay_wide(void **state) {
    (void)state;
    assert_int_equal(bytes_of(PLACE_IN_SHARED(ADDED_UP), 288, 0.9), 4);
    assert_int_equal(bytes_of(PLACE_IN_SHARED("st.global.u32 [%rd1], %r6;\n"), 288, 0.9), 4);
    assert_int_equal(bytes_of(PLACE_IN_SHARED("st.shared.u32 [%r9], %r6;\n"), 288, 0.9), 4);
    assert_int_equal(bytes_of(PLACE_IN_SHARED(GLOBAL_PLACE), 288, 0.9), 4);
}

// --- bytes of a word -------------------------------------------------------------------------------------------------
// Bytes that a thread takes; those of the next lane are so many apart.
#define BYTE(n) "ld.global.u8 %r6, [%rd5+" #n "]; add.s32 %r7, %r7, %r6;\n"
#define BYTES(apart, loads)                                                                      \
    BEGIN "mov.u32 %r7, 0; mul.wide.s32 %rd4, %r4, " apart "; add.s64 %rd5, %rd1, %rd4;\n" loads \
          "st.global.u32 [%rd3+1048576], %r7; ret;"
#define FOUR_BYTES BYTES("4", BYTE(0) BYTE(1) BYTE(2) BYTE(3))

// Samples of waits for loads that go when the four bytes are one load, where loads queue most for `behind`.
static f64 waits_saved(Resource behind) {
    Sampled s;
    sample(&s, FOUR_BYTES);
    s.c.behind = behind;
    s.c.waiting = 0.5;
    s.c.load.busy[RESOURCE_LSU] = s.c.load.busy[RESOURCE_L2] = 0.2;
    s.c.load.busy[behind] = 0.9;
    const Hit *hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    f64 gone = samples_gone(hit, STALL_LONG_SCOREBOARD);
    forget(&s);
    return gone;
}

// Fewer accesses shorten the line for the L1, and of what is waited for behind it no more than the L1's part.
static void joined_bytes_do_not_shorten_the_line_for_dram(void **state) {
    (void)state;
    f64 l1 = waits_saved(RESOURCE_LSU), dram = waits_saved(RESOURCE_DRAM);
    assert_true(l1 > 1000 && dram > 0);
    assert_near(dram / l1, 0.25 / (0.25 + 0.25 + 9));
}

#define CONVERTED(n) "ld.global.u8 %r6, [%rd5+" #n "]; cvt.rn.f32.u32 %f1, %r6; add.f32 %f2, %f2, %f1;\n"

// Issues that go when the bytes are one load, in times that an instruction issued.
static f64 issues_of_joined(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    f64 once = s.c.parts[0].insns[s.c.parts[0].accesses[0].pc].issued, gone = hit->change.issues / once;
    forget(&s);
    return gone;
}

#define MASKED(n) "ld.global.u8 %r6, [%rd5+" #n "]; and.b32 %r8, %r6, 192; add.s32 %r7, %r7, %r8;\n"

// Three of four loads go, and each byte is taken out of the word, unless it is converted or masked there.
static void bytes_are_taken_out_of_words(void **state) {
    (void)state;
    assert_near(issues_of_joined(FOUR_BYTES), 3 - 4);
    assert_near(issues_of_joined(BYTES("4", CONVERTED(0) CONVERTED(1) CONVERTED(2) CONVERTED(3))), 3);
    assert_near(issues_of_joined(BYTES("4", MASKED(0) MASKED(1) MASKED(2) MASKED(3))), 3);
}

// How many changes are advised, of which the first is this one.
static u32 wider_accesses(const char *body, const char *first) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, first));
    u32 count = s.c.hits.len;
    forget(&s);
    return count;
}

// What a loaded number is asked for, and what is stored for the answer.
#define ASKED(question) \
    BEGIN "ld.global.u32 %r6, [%rd3]; " question " selp.u32 %r7, 1, 2, %p1; st.global.u32 [%rd3+1048576], %r7; ret;"

// Which of a few kinds something is fits a byte; a number that is larger, or compared with what another place has, may
// not.
static void kinds_fit_a_byte(void **state) {
    (void)state;
    assert_int_equal(bytes_of(ASKED("setp.eq.s32 %p1, %r6, 3;"), 0, 0.9), 1);
    assert_int_equal(bytes_of(ASKED("mov.u32 %r8, %r6; setp.ne.s32 %p1, %r8, 0;"), 0, 0.9), 1);
    assert_int_equal(bytes_of(ASKED("setp.eq.s32 %p1, %r6, 3;"), 0, 0.3), 4);  // DRAM has time
    assert_int_equal(bytes_of(ASKED("setp.eq.s32 %p1, %r6, 300;"), 0, 0.9), 4);
    assert_int_equal(bytes_of(ASKED("setp.gt.s32 %p1, %r6, 3;"), 0, 0.9), 4);
    assert_int_equal(bytes_of(ASKED("setp.eq.s32 %p1, %r6, %r1;"), 0, 0.9), 4);
    assert_int_equal(bytes_of(ASKED("setp.eq.s32 %p1, %r6, 3; st.global.u32 [%rd1], %r6;"), 0, 0.9), 4);
}

// The largest of the numbers that a loop loads, what else is done with each, and how many bits of it are kept.
#define LARGEST(also, bits)                                                                                \
    BEGIN "mov.u32 %r7, 0; mov.u32 %r8, 0;\n"                                                              \
          "turn: ld.global.u32 %r6, [%rd3]; max.s32 %r7, %r7, %r6; " also "add.s64 %rd3, %rd3, 1048576;\n" \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.u" bits " [%rd1], %r7; ret;"

// Numbers whose maximum fits 16 bits fit these, too, whatever small number they are compared with; of a sum nothing is
// known.
static void numbers_fit_where_their_maximum_does(void **state) {
    (void)state;
    assert_int_equal(bytes_of(LARGEST("", "16"), 0, 0.9), 2);
    assert_int_equal(bytes_of(LARGEST("setp.gt.s32 %p1, %r6, 92; ", "16"), 0, 0.9), 2);
    assert_int_equal(bytes_of(LARGEST("", "16"), 0, 0.3), 4);  // DRAM has time
    assert_int_equal(bytes_of(LARGEST("", "32"), 0, 0.9), 4);
    assert_int_equal(bytes_of(LARGEST("add.s32 %r7, %r7, %r6; ", "16"), 0, 0.9), 4);
}

// What can become one access is the first step; three bytes cannot, and a thread takes several elements of them.
static void bytes_that_are_joined_are_not_narrow(void **state) {
    (void)state;
    assert_int_equal(wider_accesses(FOUR_BYTES, "Join"), 1);
    assert_int_equal(wider_accesses(BYTES("3", BYTE(0) BYTE(1) BYTE(2)), "Let a thread take"), 1);
}

#define SHORTS                                                                                                     \
    BEGIN "mul.wide.s32 %rd4, %r4, 2; add.s64 %rd5, %rd1, %rd4; ld.global.u16 %r6, [%rd5]; add.s32 %r6, %r6, 7;\n" \
          "add.s64 %rd6, %rd2, %rd4; st.global.u16 [%rd6], %r6; ret;"

// The same place of many planes.
#define PLANES(step)                                                                           \
    BEGIN "cvt.s64.s32 %rd4, %r4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r7, 0; mov.u32 %r8, 0;\n" \
          "turn: ld.global.u8 %r6, [%rd5]; add.s32 %r7, %r7, %r6; add.s64 %rd5, %rd5, " step   \
          ";\nadd.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.shared.u32 [tile], %r7; ret;"

static bool are_taken(const char *body, f64 waves, const char *many) {
    Sampled s;
    sample(&s, body);
    s.subject.view.occupancy.waves = waves;
    const Hit *hit = ask(&s, "vectorised-access");
    bool found = hit && strstr(hit->what, many);
    forget(&s);
    return found;
}

// As wide as accesses can be, unless too few threads would be left.
static void shorts_are_taken_by_sixteen_bytes(void **state) {
    (void)state;
    assert_true(are_taken(SHORTS, 20, "take 8 elements"));
    assert_true(are_taken(SHORTS, 3, "take 2 elements"));
}

// Threads that have several elements have them of all planes.
static void elements_of_planes_are_neighbours(void **state) {
    (void)state;
    assert_true(are_taken(PLANES("1048576"), 20, "take 4 elements"));
    assert_false(are_taken(PLANES("4"), 20, "take 4 elements"));  // what the next lanes have
}

// Half of a structure is loaded ahead of a branch to a long way, half behind where that comes back; `also` stores.
#define HALVES(also)                                                                                      \
    BEGIN "mul.wide.s32 %rd4, %r4, 16; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r6, [%rd5]; "             \
          "ld.global.u32 %r7, [%rd5+4]; setp.gt.s32 %p1, %r1, 100; @%p1 bra back; add.u32 %r6, %r6, 7;\n" \
          "back: ld.global.u32 %r8, [%rd5+8]; ld.global.u32 %r9, [%rd5+12]; add.u32 %r6, %r6, %r7; " also \
          "add.u32 %r6, %r6, %r8; add.u32 %r6, %r6, %r9; ld.param.u64 %rd6, [p+8]; st.global.u32 [%rd6], %r6; ret;"

static f64 joined_halves(const char *body, u32 behind) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, body);
    const FlowCode *code = view->flow.code;
    u32 last = view->flow.cfg->block_of[code->insn_count - 1];
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, view->flow.cfg->block_of[pc] == last ? behind : 10);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 1000);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "vectorised-access");
    f64 issues = hit ? hit->change.issues : -1;
    forget(&s);
    return issues;
}

// They are one load of four words where both halves are always loaded and nobody stores to them; else two of two.
static void halves_around_a_long_way_are_joined(void **state) {
    (void)state;
    assert_near(joined_halves(HALVES(""), 10), 3 * 10);
    assert_near(joined_halves(HALVES(""), 2), 10 + 2);
    assert_near(joined_halves(HALVES("st.global.u32 [%rd3], %r6; "), 10), 2 * 10);
}

static bool is_scattered(const char *body) {
    Sampled s;
    sample(&s, body);
    bool found = ask(&s, "global-coalescing") != NULL;
    forget(&s);
    return found;
}

// A line of which the thread's other accesses take what one leaves is not scattered; a byte of each word is.
static void bytes_that_others_take_are_not_scattered(void **state) {
    (void)state;
    assert_false(is_scattered(FOUR_BYTES));
    assert_true(is_scattered(BYTES("4", BYTE(0))));
    assert_true(is_scattered(BYTES("4", BYTE(0) BYTE(2))));                  // half of the line stays
    assert_true(is_scattered(BYTES("4", BYTE(0) BYTE(0) BYTE(2) BYTE(2))));  // however often it is asked for
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_around_a_long_way_are_joined),
                                       cmocka_unit_test(counters_in_shared_memory_count_together),
                                       cmocka_unit_test(words_of_all_threads_count_together),
                                       cmocka_unit_test(lanes_that_meet_do_not_fill_the_l1),
                                       cmocka_unit_test(lanes_that_data_lets_in_may_be_many),
                                       cmocka_unit_test(a_word_of_all_threads_does_not_hide_those_of_data),
                                       cmocka_unit_test(places_of_shared_memory_fit_a_byte_or_two),
                                       cmocka_unit_test(numbers_that_are_used_stay_wide),
                                       cmocka_unit_test(joined_bytes_do_not_shorten_the_line_for_dram),
                                       cmocka_unit_test(bytes_are_taken_out_of_words),
                                       cmocka_unit_test(kinds_fit_a_byte),
                                       cmocka_unit_test(numbers_fit_where_their_maximum_does),
                                       cmocka_unit_test(bytes_that_are_joined_are_not_narrow),
                                       cmocka_unit_test(shorts_are_taken_by_sixteen_bytes),
                                       cmocka_unit_test(elements_of_planes_are_neighbours),
                                       cmocka_unit_test(bytes_that_others_take_are_not_scattered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
