// SPDX-License-Identifier: Apache-2.0
// register-reuse by several results for each thread, on kernels of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// Threads of 16 rows and columns fill a tile and go through it: `meets` takes %f1 and what `second` loads.
#define TILES(second, meets)                                                                            \
    BEGIN "mov.u32 %r10, %tid.y; mov.u32 %r7, tile; mad.lo.s32 %r8, %r1, 4, %r7; mov.u32 %r6, 0;\n"     \
          "mad.lo.s32 %r9, %r10, 4, %r7; mov.f32 %f2, 0f00000000; mov.f32 %f5, 0f00000000;\n"           \
          "fill: ld.global.u32 %r12, [%rd3]; st.shared.u32 [%r8], %r12; bar.sync 0; mov.u32 %r11, 0;\n" \
          "turn: ld.shared.f32 %f1, [%r8]; " second meets "add.s32 %r11, %r11, 1;\n"                    \
          "setp.lt.s32 %p1, %r11, %r5; @%p1 bra turn; bar.sync 0; add.s64 %rd3, %rd3, 4096;\n"          \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r5; @%p2 bra fill; st.global.f32 [%rd3], %f2; ret;"
#define OF_ROW "ld.shared.f32 %f3, [%r9+512]; "
#define ONE "fma.rn.f32 %f2, %f1, %f3, %f2; "

#define TILE "4 x 4 results"

static const Hit *ask_for_several(Sampled *s, const char *body, u32 ctas) {
    static const GpuModel gpu = {.sms = 100, .warp_schedulers = 4};
    KernelView *view = sampled_begin(s, body);
    s->launch = (ProfileLaunch){.grid = {ctas, 1, 1}, .block = {16, 16, 1}};
    view->gpu = &gpu;
    view->occupancy.warps_per_cta = 8;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s->subject, pc, STALL_SELECTED, 10);
    sampled_end(s);
    return ask(s, "register-reuse");
}

static bool computes_several(const char *body, u32 ctas, const char *results) {
    Sampled s;
    const Hit *hit = ask_for_several(&s, body, ctas);
    bool does = hit && strstr(hit->what, results);
    forget(&s);
    return does;
}

// Where a row's value meets a column's one by one, threads can have several of each; not where they have already, where
// both are a row's, or where too few warps would be left.
static void rows_meet_columns_in_registers(void **state) {
    (void)state;
    assert_true(computes_several(TILES(OF_ROW, ONE), 10000, TILE));
    assert_false(computes_several(TILES(OF_ROW, ONE), 100, TILE));
    assert_false(computes_several(TILES("ld.shared.f32 %f3, [%r8+512]; ", ONE), 10000, TILE));
    assert_false(computes_several(TILES(OF_ROW "ld.shared.f32 %f4, [%r9+576]; ", ONE "fma.rn.f32 %f5, %f1, %f4, %f5; "),
                                  10000, TILE));
}

static f64 issues_gone(const char *body) {
    Sampled s;
    const Hit *hit = ask_for_several(&s, body, 10000);
    assert_non_null(hit);
    f64 gone = hit->change.issues / 10;
    forget(&s);
    return gone;
}

// What a row's values alone make is made once for four results as well; what meets in it is made for each.
static void sums_of_rows_are_made_once(void **state) {
    (void)state;
    f64 plain = issues_gone(TILES(OF_ROW, ONE));
    assert_near(issues_gone(TILES(OF_ROW, ONE "add.f32 %f5, %f5, %f3; ")), plain + 0.75);
    assert_near(issues_gone(TILES(OF_ROW, ONE "add.f32 %f5, %f5, %f2; ")), plain);
}

// The same without tiles: a value of the thread's row, %rd5 beside %rd4 by `pitch`, and one of its column.
#define MATRIX(pitch)                                                                                         \
    BEGIN "mov.u32 %r10, %tid.y; ld.param.u32 %r7, [n]; mov.u32 %r6, 0; mov.f32 %f2, 0f00000000;\n"           \
          "mul.lo.s32 %r8, %r10, " pitch "; mul.wide.s32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4;\n"           \
          "mul.wide.s32 %rd6, %r1, 4; add.s64 %rd7, %rd1, %rd6;\n"                                            \
          "turn: ld.global.f32 %f1, [%rd7+65536]; ld.global.f32 %f3, [%rd5]; " ONE "add.s64 %rd5, %rd5, 4;\n" \
          "add.s64 %rd7, %rd7, 4096; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra turn;\n"        \
          "st.global.f32 [%rd3], %f2; ret;"

// One turn of it without a loop, and so many.
#define MEET \
    "ld.global.f32 %f1, [%rd7]; ld.global.f32 %f3, [%rd5]; " ONE "add.s64 %rd5, %rd5, 4; add.s64 %rd7, %rd7, 4096;\n"
#define FOUR MEET MEET MEET MEET
#define UNROLLED(turns)                                                                                               \
    BEGIN "mov.u32 %r10, %tid.y; mov.f32 %f2, 0f00000000; mul.wide.s32 %rd4, %r10, 4096; add.s64 %rd5, %rd1, %rd4;\n" \
          "mul.wide.s32 %rd6, %r1, 4; add.s64 %rd7, %rd1, %rd6;\n" turns "st.global.f32 [%rd3], %f2; ret;"

// From global memory, too, be it known how far rows lie apart or not.
static void rows_of_global_memory_meet_columns(void **state) {
    (void)state;
    assert_true(computes_several(MATRIX("%r7"), 10000, TILE));
    assert_true(computes_several(MATRIX("1024"), 10000, TILE));
    assert_false(computes_several(MATRIX("%r7"), 100, TILE));
    assert_false(computes_several(MATRIX("0"), 10000, TILE));
    assert_true(computes_several(UNROLLED(FOUR FOUR), 10000, TILE));
    assert_false(computes_several(UNROLLED(FOUR), 10000, TILE));
}

// Threads fill a list and go through all of it, each with a value of its own: `uses` takes %f1, which is the same for
// all of them.
#define LISTS(place, uses)                                                                               \
    BEGIN "mov.u32 %r7, tile; mad.lo.s32 %r8, %r1, 4, %r7; mov.u32 %r6, 0; ld.global.f32 %f3, [%rd3];\n" \
          "mov.f32 %f2, 0f00000000; mov.f32 %f5, 0f00000000;\n"                                          \
          "fill: ld.global.u32 %r12, [%rd3]; st.shared.u32 [%r8], %r12; bar.sync 0; mov.u32 %r11, 0;\n"  \
          "mov.u32 %r9, " place ";\n"                                                                    \
          "turn: ld.shared.f32 %f1, [%r9]; " uses "add.s32 %r9, %r9, 4; add.s32 %r11, %r11, 1;\n"        \
          "setp.lt.s32 %p1, %r11, %r5; @%p1 bra turn; bar.sync 0; add.s64 %rd3, %rd3, 4096;\n"           \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r5; @%p2 bra fill; add.f32 %f2, %f2, %f5;\n"      \
          "st.global.f32 [%rd3], %f2; ret;"
#define THREE ONE "fma.rn.f32 %f5, %f1, %f1, %f5; fma.rn.f32 %f6, %f1, %f3, %f6; "

// Who goes over a list with one value can do so with several; not where each thread reads a part of its own, where it
// has several already, or where too few warps would be left.
static void lists_are_loaded_once_for_several_results(void **state) {
    (void)state;
    assert_true(computes_several(LISTS("%r7", ONE), 10000, "4 results"));
    assert_true(computes_several(LISTS("%r7", ONE), 220, "2 results"));
    assert_false(computes_several(LISTS("%r7", ONE), 100, "results"));
    assert_false(computes_several(LISTS("%r8", ONE), 10000, "results"));
    assert_false(computes_several(LISTS("%r7", THREE), 10000, "results"));
}

// A column of the grid's CTAs loads what `address` says, %rd5, and the L2 is as busy.
static bool shares_with_ctas(const char *address, f64 busy) {
    static const GpuModel gpu = {.sms = 100, .warp_schedulers = 4};
    Sampled s;
    char body[1024] = BEGIN;
    strcat(strcat(body, address),
           "ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f1, %f1; mov.u32 %r9, %ctaid.y;\n"
           "mad.lo.s32 %r10, %r9, %r5, %r4; mul.wide.s32 %rd6, %r10, 4; add.s64 %rd7, %rd1, %rd6;\n"
           "st.global.f32 [%rd7], %f2; ret;");
    KernelView *view = sampled_begin(&s, body);
    s.launch = (ProfileLaunch){.grid = {1000, 100, 1}, .block = {128, 1, 1}};
    view->gpu = &gpu;
    view->occupancy.warps_per_cta = 4;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, 10);
    sampled_end(&s);
    s.c.load.busy[RESOURCE_L2] = busy;
    s.c.parts[0].insns[s.c.parts[0].accesses[0].pc].use[RESOURCE_L2] = busy;
    const Hit *hit = ask(&s, "register-reuse");
    bool does = hit && strstr(hit->what, "results of 4 CTAs");
    forget(&s);
    return does;
}

// Where the L2 is the limit one CTA can load for several of a column; not what is each CTA's own, or data's.
static void ctas_of_a_column_load_the_same(void **state) {
    (void)state;
    const char *of_column = "add.s64 %rd5, %rd3, 0; ";
    const char *own = "mov.u32 %r9, %ctaid.y; mul.wide.s32 %rd4, %r9, 512; add.s64 %rd5, %rd3, %rd4; ";
    assert_true(shares_with_ctas(of_column, 0.9));
    assert_false(shares_with_ctas(of_column, 0.3));
    assert_false(shares_with_ctas(own, 0.9));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_meet_columns_in_registers), cmocka_unit_test(sums_of_rows_are_made_once),
        cmocka_unit_test(rows_of_global_memory_meet_columns),
        cmocka_unit_test(lists_are_loaded_once_for_several_results), cmocka_unit_test(ctas_of_a_column_load_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
