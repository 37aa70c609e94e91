// SPDX-License-Identifier: Apache-2.0
// register-reuse by several results beside each other, on kernels of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// Each thread takes four taps and four elements in a row of shared memory in each turn, the thread beside it nearly the
// same; elements are `apart` from thread to thread.
#define FILTER(apart, also)                                                                                     \
    BEGIN "mov.u32 %r6, 0; mov.u32 %r7, tile; mad.lo.s32 %r8, %r1, " apart ", %r7; mov.u32 %r9, tile;\n"        \
          "ld.global.f32 %f1, [%rd3]; st.shared.f32 [%r8], %f1; bar.sync 0; mov.f32 %f2, 0f00000000;\n"         \
          "turn: ld.shared.f32 %f3, [%r9+8192]; ld.shared.f32 %f4, [%r8]; fma.rn.f32 %f2, %f3, %f4, %f2;\n"     \
          "ld.shared.f32 %f5, [%r9+8196]; ld.shared.f32 %f6, [%r8+4]; fma.rn.f32 %f2, %f5, %f6, %f2;\n"         \
          "ld.shared.f32 %f7, [%r9+8200]; ld.shared.f32 %f8, [%r8+8]; fma.rn.f32 %f2, %f7, %f8, %f2;\n"         \
          "ld.shared.f32 %f9, [%r9+8204]; ld.shared.f32 %f10, [%r8+12]; fma.rn.f32 %f2, %f9, %f10, %f2;\n" also \
          "add.s32 %r8, %r8, 16; add.s32 %r9, %r9, 16; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 32;\n"        \
          "@%p1 bra turn; st.global.f32 [%rd3], %f2; ret;"

// The L1 is busy for that part of the time, all with the kernel's accesses.
static const Hit *ask_when_busy(Sampled *s, f64 busy) {
    sampled_end(s);
    CasePart *part = &s->c.parts[0];
    for (u32 i = 0; i < part->access_count; i++)
        part->insns[part->accesses[i].pc].use[RESOURCE_LSU] = busy / part->access_count;
    s->c.load.busy[RESOURCE_LSU] = busy;
    const Hit *hit = ask(s, "register-reuse");
    return hit && strstr(hit->what, "results beside each other") ? hit : NULL;
}

static const GpuModel gpu = {.sms = 100, .warp_schedulers = 4};

static const Hit *ask_for_results(Sampled *s, const char *body, u32 ctas, f64 busy) {
    KernelView *view = sampled_begin(s, body);
    s->launch = (ProfileLaunch){.grid = {ctas, 1, 1}, .block = {128, 1, 1}};
    view->gpu = &gpu;
    view->occupancy.warps_per_cta = 4;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s->subject, pc, STALL_SELECTED, 100);
    return ask_when_busy(s, busy);
}

static bool makes_results(const char *body, u32 ctas, f64 busy, const char *results) {
    Sampled s;
    const Hit *hit = ask_for_results(&s, body, ctas, busy);
    bool does = hit && strstr(hit->what, results);
    forget(&s);
    return does;
}

// Where loads of windows keep the L1 busy, threads can make several results beside each other; not where a thread's
// elements are its own, where another window would have to be kept as well, where the L1 has little to do or where too
// few warps would be left.
static void windows_serve_several_results(void **state) {
    (void)state;
    assert_true(makes_results(FILTER("4", ""), 10000, 0.9, "7 results"));
    assert_true(makes_results(FILTER("4", ""), 700, 0.9, "3 results"));
    assert_false(makes_results(FILTER("16", ""), 10000, 0.9, "results"));
    assert_false(
        makes_results(FILTER("4", "ld.global.f32 %f11, [%rd3+4]; add.f32 %f2, %f2, %f11;\n"), 10000, 0.9, "results"));
    assert_false(makes_results(FILTER("4", ""), 10000, 0.3, "results"));
    assert_false(makes_results(FILTER("4", ""), 100, 0.9, "results"));
}

// The same along columns, 64 words apart, of threads that one index of 32 and another make out of their own: the next
// warp is beside this one (examples/advice/held_out_38/plumes.cu). `row`: bytes from a warp's row to the next.
#define COLUMNS(row)                                                                                                  \
    BEGIN "mov.u32 %r6, 0; mov.u32 %r10, 0; shr.u32 %r7, %r1, 5; and.b32 %r8, %r1, 31; mul.lo.s32 %r7, %r7, " row     \
          ";\n"                                                                                                       \
          "mad.lo.s32 %r7, %r8, 4, %r7; mov.u32 %r9, tile; add.s32 %r8, %r7, %r9;\n"                                  \
          "ld.global.f32 %f1, [%rd3]; st.shared.f32 [%r8], %f1; bar.sync 0; mov.f32 %f2, 0f00000000;\n"               \
          "turn: add.s32 %r11, %r8, %r10; ld.shared.f32 %f3, [%r9+8192]; ld.shared.f32 %f4, [%r11]; fma.rn.f32 %f2, " \
          "%f3, %f4, %f2;\n"                                                                                          \
          "ld.shared.f32 %f5, [%r9+8196]; ld.shared.f32 %f6, [%r11+256]; fma.rn.f32 %f2, %f5, %f6, %f2;\n"            \
          "ld.shared.f32 %f7, [%r9+8200]; ld.shared.f32 %f8, [%r11+512]; fma.rn.f32 %f2, %f7, %f8, %f2;\n"            \
          "ld.shared.f32 %f9, [%r9+8204]; ld.shared.f32 %f10, [%r11+768]; fma.rn.f32 %f2, %f9, %f10, %f2;\n"          \
          "add.s32 %r10, %r10, 4; add.s32 %r9, %r9, 16; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 32;\n"             \
          "@%p1 bra turn; st.global.f32 [%rd3], %f2; ret;"

static void warps_lie_beside_each_other(void **state) {
    (void)state;
    assert_true(makes_results(COLUMNS("256"), 10000, 0.9, "8 results"));
    assert_false(makes_results(COLUMNS("192"), 10000, 0.9, "results"));
}

// nvcc 13.0, sm_90: four rows of 1024 words around the thread's own, the first no row before the array's, the last none
// behind it.
#define ROW(from, to)                                                                                               \
    "|VIADDMNMX|R0,R5," from ",RZ,!PT", "|VIMNMX|R3,R0,UR4,PT", "|IMAD|R2,R3,0x400,R12", "|IMAD.WIDE|R2,R2,0x4,R8", \
        "|LDG.E|" to ",desc[UR6][R2.64]"

// Issues that go; -1: nothing was found.
static f64 issues_gone(const char *const *lines) {
    Machine m;
    machine_begin(&m, lines, NULL);
    m.s.launch = (ProfileLaunch){.grid = {10000, 1, 1}, .block = {32, 4, 1}};
    m.s.subject.view.gpu = &gpu;
    m.s.subject.view.occupancy.warps_per_cta = 4;
    const Hit *hit = ask_when_busy(&m.s, 0.9);
    f64 gone = hit ? hit->change.issues / 10 : -1;
    if (hit) assert_non_null(strstr(hit->what, "8 results"));
    machine_end(&m);
    return gone;
}

// Rows that are kept within an array are in a row as others are: of the loads and what makes their addresses 11 are
// left of 32; sums and the store are there for each result.
static void windows_within_bounds(void **state) {
    (void)state;
#define ROWS(third)                                                                                        \
    ((const char *const[]){"|S2R|R5,SR_TID.Y", "|S2R|R12,SR_TID.X", "|ULDC|UR4,c[0x0][0x218]",             \
                           "|LDC.64|R8,c[0x0][0x210]", ROW("0xfffffffe", "R20"), ROW("0xffffffff", "R21"), \
                           ROW("0x0", "R22"), ROW(third, "R23"), "|FADD|R20,R20,R21", "|FADD|R22,R22,R23", \
                           "|FADD|R20,R20,R22", "|STG.E|desc[UR6][R8.64],R20", "|EXIT|", NULL})
    assert_float_equal(issues_gone(ROWS("0x1")), 24 * 21 / 32.0, 0.01);
    assert_float_equal(issues_gone(ROWS("0x9")), -1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_serve_several_results),
                                       cmocka_unit_test(warps_lie_beside_each_other),
                                       cmocka_unit_test(windows_within_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
