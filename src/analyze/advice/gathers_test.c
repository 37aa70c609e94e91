// SPDX-License-Identifier: Apache-2.0
// memory-transactions and indirect-addressing on what lanes gather at one index from several arrays, or one behind the
// other, of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// %r6: which element, as data says; %rd5 and %rd7: where it is in two arrays.
#define ELEMENTS(second)                                                                       \
    ".global .align 4 .b8 other[4096];\n" BEGIN "ld.global.u32 %r6, [%rd3];\n"                 \
    "mul.wide.s32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n" second \
    "ld.global.f32 %f2, [%rd7]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret;"

// Issues that go, -1: nothing was found.
static f64 issues_gone(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    sample_waits(&s, view, 400);
    sampled_end(&s);
    const Hit *hit = ask(&s, "memory-transactions");
    f64 gone = hit ? hit->change.issues : -1;
    if (hit) assert_non_null(strstr(hit->text->why, "sector of 32 bytes"));  // its own words, not the rule's
    forget(&s);
    return gone;
}

static void elements_of_one_number_come_together(void **state) {
    (void)state;
    assert_float_equal(issues_gone(ELEMENTS("mov.u64 %rd6, other; add.s64 %rd7, %rd6, %rd4;\n")), 10, 1e-6);
    // Two elements of one array, and of another number.
    assert_float_equal(issues_gone(ELEMENTS("add.s64 %rd7, %rd5, 4096;\n")), -1, 1e-6);
    assert_float_equal(issues_gone(ELEMENTS("mov.u64 %rd6, other; add.s64 %rd8, %rd6, %rd4; add.s64 %rd7, %rd8, 4;\n")),
                       -1, 1e-6);
}

// A byte of a pixel is a number, a place on an axis and the cell of a table, which has several words each.
#define CELLS                                                                                                          \
    BEGIN "ld.global.u32 %r6, [%rd3]; shr.u32 %r7, %r6, 8; and.b32 %r7, %r7, 255; cvt.rn.f32.u32 %f1, %r7;\n"          \
          "mul.f32 %f1, %f1, 0f3E000000; cvt.rzi.s32.f32 %r8, %f1; min.s32 %r8, %r8, 31; mad.lo.s32 %r9, %r8, 33, "    \
          "%r8;\n"                                                                                                     \
          "mad.lo.s32 %r9, %r9, 33, %r8; shl.b32 %r9, %r9, 2; mul.wide.s32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4;\n"  \
          "ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [%rd5+4]; add.f32 %f4, %f2, %f3; st.global.f32 [%rd3], %f4; " \
          "ret;"

static void cells_of_a_table_are_where_the_data_says(void **state) {
    (void)state;
    Sampled s;
    KernelView *view = sampled_begin(&s, CELLS);
    sample_waits(&s, view, 400);
    sampled_end(&s);
    u32 gathered = 0;
    for (u32 i = 0; i < s.c.parts[0].access_count; i++) gathered += s.c.parts[0].accesses[i].gathered;
    assert_int_equal(gathered, 2);
    forget(&s);
}

static bool leads_somewhere(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    sample_waits(&s, view, 400);
    sampled_end(&s);
    bool found = ask(&s, "indirect-addressing") != NULL;
    forget(&s);
    return found;
}

// A key that is there lets the next word be loaded, at an address that it has no part in; a pointer is that address.
#define KEY(address)                                                                    \
    BEGIN "ld.global.u64 %rd4, [%rd3]; setp.ne.s64 %p1, %rd4, 0; mov.u64 %rd5, %rd3;\n" \
          "@%p1 add.s64 %rd5, " address ", 16; @%p1 ld.global.u32 %r6, [%rd5]; st.global.u32 [%rd3], %r6; ret;"

static void a_guard_is_no_address(void **state) {
    (void)state;
    assert_true(leads_somewhere(KEY("%rd4")));
    assert_false(leads_somewhere(KEY("%rd3")));
}

// Each turn asks one array for the element that the one before went on to, `place` of which it has asked another for.
#define LINKS(place)                                                                                               \
    ".global .align 4 .b8 other[4096];\n" BEGIN "ld.global.u32 %r6, [%rd3]; mov.u64 %rd6, other;\n"                \
    "turn: mul.wide.s32 %rd4, %r6, 4; add.s64 %rd7, %rd6, %rd4; ld.global.u32 %r7, [%rd7]; and.b32 %r8, %r7, 7;\n" \
    "mul.wide.s32 %rd8, " place "; ld.global.u32 %r9, [%rd9]; mov.u32 %r6, %r7;\n"                                 \
    "setp.ne.u32 %p1, %r9, %r5; @%p1 bra turn; st.global.u32 [%rd3], %r9; ret;"

// What comes with the parts of the element that the turn before took need not be loaded, nor waited for.
static void parts_that_the_next_turn_takes_come_before(void **state) {
    (void)state;
    assert_float_equal(issues_gone(LINKS("%r7, 4; add.s64 %rd9, %rd1, %rd8")), 100, 1e-6);
    assert_float_equal(issues_gone(LINKS("%r8, 4; add.s64 %rd9, %rd1, %rd8")), -1, 1e-6);
    assert_float_equal(issues_gone(LINKS("%r7, 4; add.s64 %rd8, %rd8, 4; add.s64 %rd9, %rd1, %rd8")), -1, 1e-6);
    assert_float_equal(issues_gone(LINKS("%r7, 8; add.s64 %rd9, %rd1, %rd8")), -1, 1e-6);
}

// %r6: which structure of so many bytes; parts of it at its begin and so far on.
#define PARTS(bytes, on)                                                                              \
    BEGIN "ld.global.u32 %r6, [%rd3]; mul.wide.s32 %rd4, %r6, " bytes "; add.s64 %rd5, %rd1, %rd4;\n" \
          "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd5+" on "]; add.f32 %f3, %f1, %f2;\n"     \
          "st.global.f32 [%rd3], %f3; ret;"

static void parts_of_a_structure_come_together(void **state) {
    (void)state;
    assert_float_equal(issues_gone(PARTS("128", "64")), 10, 1e-6);
    assert_float_equal(issues_gone(PARTS("128", "16")), -1, 1e-6);  // in one sector already
    assert_float_equal(issues_gone(PARTS("32", "64")), -1, 1e-6);   // of another structure
}

// Two words of structures of so many bytes, at their begin and so far on.
static const Hit *ask_of_parts(Sampled *s, const char *body, const char *rule) {
    KernelView *view = sampled_begin(s, body);
    sample_waits(s, view, 400);
    sampled_end(s);
    return ask(s, rule);
}

static bool is_padded(const char *body) {
    Sampled s;
    const Hit *hit = ask_of_parts(&s, body, "memory-transactions");
    bool padded = hit && strstr(hit->what, "Align the structures");
    if (padded) assert_float_equal(hit->change.issues, 10, 1e-6);  // one load of two is left
    forget(&s);
    return padded;
}

// Of structures of 24 bytes every fourth has its third word in another sector than its first; those of 32 bytes never,
// nor those of 8 bytes. What is alone is in one sector wherever it is.
static void structures_lie_across_no_sectors(void **state) {
    (void)state;
    assert_true(is_padded(PARTS("24", "8")));
    assert_true(is_padded(PARTS("12", "8")));
    assert_false(is_padded(PARTS("32", "8")));
    assert_false(is_padded(PARTS("8", "4")));
    assert_false(is_padded(PARTS("24", "24")));  // of the next one
}

// Part of the time that stays for an L2 of so many slices.
static f64 stays_of(const char *body, const char *rule, u32 slices) {
    static GpuModel gpu;
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    gpu = (GpuModel){.sms = 10, .warp_schedulers = 4, .clock_mhz = 1000, .noc_clock_mhz = 1000, .l2_slices = slices};
    view->gpu = &gpu;
    view->launches.total_ns = 100000;
    sample_waits(&s, view, 400);
    view->total_latency = view->total / 2;
    sampled_end(&s);
    const Hit *hit = ask(&s, rule);
    assert_non_null(hit);
    f64 stays = hit->change.stays;
    assert_int_equal(hit->also && strcmp(hit->also, "memory-transactions") == 0,
                     strcmp(rule, "vectorised-access") == 0);
    forget(&s);
    return stays;
}

// What the L2 needs for what is left stays, unless it needs more than all of the time now: then the L1 has part of it.
static void assert_l2_stays(const char *body, const char *rule) {
    f64 many = stays_of(body, rule, 1000);
    assert_true(many > 0);
    assert_near(stays_of(body, rule, 500), 2 * many);
    assert_near(stays_of(body, rule, 1), 0);
}

// Also where words of one sector become one load: as many sectors as before.
static void sectors_that_are_left_take_their_time(void **state) {
    (void)state;
    assert_l2_stays(PARTS("24", "8"), "memory-transactions");
    assert_l2_stays(PARTS("32", "4"), "vectorised-access");
}

// Words that follow one another in structures of 24 bytes are at multiples of 8, of 12 bytes only every second time.
static void words_join_where_structures_are_aligned(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool joins;
    } cases[] = {{PARTS("24", "4"), true}, {PARTS("32", "4"), true}, {PARTS("12", "4"), false}};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Sampled s;
        assert_int_equal(ask_of_parts(&s, cases[i].body, "vectorised-access") != NULL, cases[i].joins);
        forget(&s);
    }
}

// %r6: a face's first edge, %r7 the one behind it, %r8 and %r9 the corners where they begin; `kept` is done with %r8
// besides.
#define FACE(kept)                                                                                                     \
    ".global .align 8 .b8 edges[4096];\n" BEGIN "ld.param.u64 %rd20, [q]; add.s64 %rd21, %rd20, %rd2;\n"               \
    "ld.global.u32 %r6, [%rd3]; mov.u64 %rd4, edges; mul.wide.s32 %rd5, %r6, 8; add.s64 %rd6, %rd4, %rd5;\n"           \
    "ld.global.u32 %r7, [%rd6]; ld.global.u32 %r8, [%rd6+4]; mul.wide.s32 %rd7, %r7, 8; add.s64 %rd8, %rd4, %rd7;\n"   \
    "ld.global.u32 %r9, [%rd8+4]; mul.wide.s32 %rd9, %r8, 4; add.s64 %rd10, %rd1, %rd9; ld.global.f32 %f1, [%rd10];\n" \
    "mul.wide.s32 %rd11, %r9, 4; add.s64 %rd12, %rd1, %rd11; ld.global.f32 %f2, [%rd12]; add.f32 %f1, %f1, "           \
    "%f2;\n" kept "st.global.f32 [%rd21], %f1; ret;"

// Both numbers of an edge together name one more table's place.
#define BOTH                                                                                                         \
    ".global .align 8 .b8 edges[4096];\n" BEGIN "ld.param.u64 %rd20, [q]; add.s64 %rd21, %rd20, %rd2;\n"             \
    "ld.global.u32 %r6, [%rd3]; mov.u64 %rd4, edges; mul.wide.s32 %rd5, %r6, 8; add.s64 %rd6, %rd4, %rd5;\n"         \
    "ld.global.u32 %r7, [%rd6]; ld.global.u32 %r8, [%rd6+4]; add.s32 %r9, %r7, %r8; mul.wide.s32 %rd7, %r9, 8;\n"    \
    "add.s64 %rd8, %rd4, %rd7; ld.global.u32 %r10, [%rd8]; mul.wide.s32 %rd9, %r10, 4; add.s64 %rd10, %rd1, %rd9;\n" \
    "ld.global.f32 %f1, [%rd10]; st.global.f32 [%rd21], %f1; ret;"

static bool looks_up_at_once(const char *body, const char *places) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    sample_waits(&s, view, 400);
    sampled_end(&s);
    bool does = ask(&s, "indirect-addressing") != NULL;
    u32 count = 0;
    for (u32 i = 0; does && i < s.c.hits.len; i++) count += strstr(s.c.hits.data[i]->what, places) != NULL;
    forget(&s);
    return count == 1;
}

// Where the corners are the face's number says as well, in a table for each; not when one is wanted for itself.
static void tables_behind_tables_become_one_for_each_last(void **state) {
    (void)state;
    assert_true(looks_up_at_once(FACE(""), "Look up 2 places at once"));
    assert_false(looks_up_at_once(FACE("st.global.u32 [%rd21+8192], %r8; "), "places at once"));
    assert_false(looks_up_at_once(FACE("st.global.u32 [%rd6], %r1; "), "places at once"));  // tables change
    assert_false(looks_up_at_once(BOTH, "places at once"));                                 // one place in the end
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_of_one_number_come_together),
                                       cmocka_unit_test(cells_of_a_table_are_where_the_data_says),
                                       cmocka_unit_test(a_guard_is_no_address),
                                       cmocka_unit_test(parts_that_the_next_turn_takes_come_before),
                                       cmocka_unit_test(parts_of_a_structure_come_together),
                                       cmocka_unit_test(structures_lie_across_no_sectors),
                                       cmocka_unit_test(sectors_that_are_left_take_their_time),
                                       cmocka_unit_test(words_join_where_structures_are_aligned),
                                       cmocka_unit_test(tables_behind_tables_become_one_for_each_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
