// SPDX-License-Identifier: Apache-2.0
// thread-increase of CTAs that fill their shared memory with a table, of which there are only samples, made up.
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 1000,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .max_ctas_per_sm = 32,
                             .max_threads_per_sm = 2048,
                             .registers_per_sm = 65536,
                             .registers_per_cta = 65536,
                             .register_unit = 256,
                             .shared_per_cta_optin = 200000,
                             .shared_per_sm = 200000};

// CTAs of 64 threads fill shared memory with what lies at q, and so many words further on; each turn goes on by so many
// bytes. With `more` they store something else.
#define FILL(further, step, more)                                                                               \
    BEGIN "ld.param.u64 %rd6, [q]; " further " add.s32 %r8, %r8, %r1; mul.wide.s32 %rd4, %r8, 4;\n"             \
          "add.s64 %rd5, %rd6, %rd4; mov.u32 %r12, tile; mad.lo.s32 %r13, %r1, 4, %r12; mov.u32 %r9, 0;\n"      \
          "turn: ld.global.u32 %r7, [%rd5]; st.shared.u32 [%r13], %r7; add.s64 %rd5, %rd5, " step ";\n"         \
          "add.s32 %r13, %r13, " step "; add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, %r5; @%p2 bra turn;\n" more \
          "bar.sync 0; ld.shared.u32 %r10, [%r12]; st.global.u32 [%rd3], %r10; ret;"

static KernelView *begin(Sampled *s, u32 shared, const char *body) {
    static const ProfileFunction function = {.name = "subject"};
    KernelView *view = sampled_begin(s, body);
    s->launch.grid[0] = 10000;
    s->launch.block[0] = 64;
    s->launch.dynamic_shared_bytes = shared;
    view->gpu = &gpu;
    view->function = &function;
    view->occupancy.warps_per_cta = 2;
    view->occupancy.ctas_per_sm = 200000 / shared;
    view->occupancy.warps_per_sm = 2 * view->occupancy.ctas_per_sm;
    view->occupancy.waves = 10000.0 / (100 * view->occupancy.ctas_per_sm);
    view->occupancy.limits = 1u << LIMIT_SHARED;
    return view;
}

static f64 warps_after(u32 shared, const char *body) {
    Sampled s;
    sample_waits(&s, begin(&s, shared, body), 1000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "thread-increase");
    f64 warps = hit && strstr(hit->what, "share the table") ? hit->change.warps : 0;
    forget(&s);
    return warps;
}

// CTAs of 256 threads need no more shared memory, so that an SM has four times as many warps, up to all 64 of them.
// Where words depend on the CTA, or each thread has its own, larger CTAs would need more.
static void tables_of_all_ctas_serve_more_threads(void **state) {
    (void)state;
    assert_float_equal(warps_after(40000, FILL("mov.u32 %r8, 0;", "256", "")), 4, 1e-9);
    assert_float_equal(warps_after(20000, FILL("mov.u32 %r8, 0;", "256", "")), 3.2, 1e-9);
    assert_float_equal(warps_after(40000, FILL("mul.lo.u32 %r8, %r2, 64;", "256", "")), 0, 1e-9);
    assert_float_equal(warps_after(40000, FILL("mov.u32 %r8, 0;", "4", "")), 0, 1e-9);
    assert_float_equal(warps_after(40000, FILL("mov.u32 %r8, 0;", "256", "st.shared.u32 [%r13+512], %r4;\n")), 0, 1e-9);
}

// Of filling the table a fourth is left.
static void tables_are_filled_by_all(void **state) {
    (void)state;
    Sampled s;
    sample_waits(&s, begin(&s, 40000, FILL("mov.u32 %r8, 0;", "256", "")), 1000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "thread-increase");
    assert_non_null(hit);
    assert_float_equal(samples_gone(hit, STALL_LONG_SCOREBOARD), 750, 1e-9);
    assert_float_equal(hit->change.issues, 0.75 * 7 * 100, 1e-9);
    forget(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_of_all_ctas_serve_more_threads),
                                       cmocka_unit_test(tables_are_filled_by_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
