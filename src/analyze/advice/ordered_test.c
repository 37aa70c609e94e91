// SPDX-License-Identifier: Apache-2.0
// Lanes that data send to words: lists that are out of order (global-coalescing), and counters of shared memory that
// lanes meet on (atomic-contention), of which there are only samples, made up.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 2000,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300,
                             .max_ctas_per_sm = 32,
                             .max_threads_per_sm = 2048,
                             .shared_per_sm = 64 << 10,
                             .shared_reserved = 1 << 10};

static void sample_on(Sampled *s, const char *body, const GpuModel *on) {
    KernelView *view = sampled_begin(s, body);
    view->gpu = on;
    view->launches.total_ns = 100000;
    sample_waits(s, view, 500);
    sampled_end(s);
}

// --- lists ---------------------------------------------------------------------------------------------------------
// What global-coalescing says on a GPU whose L2 would have to work for such a part of the time if the list were out of
// order; "" nothing.
static const char *of_list(const char *body, f64 busy) {
    enum { SLICES = 100000 };
    static char text[256];
    GpuModel l2 = gpu;
    Sampled s;
    l2.l2_slices = SLICES;
    l2.noc_clock_mhz = 1;
    sample_on(&s, body, &l2);
    const CaseAccess *a = &s.c.parts[0].accesses[1];
    assert_true(a->gathered);
    l2.l2_slices = (u64)(SLICES * case_l2_sectors(&s.c, a->requests * a->sectors) / busy);
    assert_in_range(l2.l2_slices, 10, SLICES);
    const Hit *hit = ask(&s, "global-coalescing");
    snprintf(text, sizeof text, "%s", hit ? hit->what : "");
    forget(&s);
    return text;
}

// %r6: what the list says; `place`: which word that is, in %r7.
#define LIST(place)                                                                                    \
    BEGIN "ld.global.u32 %r6, [%rd3]; " place "mul.wide.u32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n" \
          "ld.global.f32 %f1, [%rd5+1048576]; st.global.f32 [%rd3], %f1; ret;"

// In order it would need less than the L2 has to give: out of order all that it has, and not more.
TEST(lists_that_keep_the_l2_busy_are_out_of_order) {
    const char *word = LIST("mov.u32 %r7, %r6; ");
    assert_non_null(strstr(of_list(word, 0.9), "Order the list of"));
    assert_string_equal(of_list(word, 0.3), "");
    assert_string_equal(of_list(word, 1.4), "");
}

TEST(places_that_threads_know_besides_are_no_list) {
    assert_null(strstr(of_list(LIST("mad.lo.s32 %r7, %r1, 7, %r6; "), 0.9), "Order the list"));
    assert_null(strstr(of_list(LIST("mul.lo.s32 %r7, %r6, 64; "), 0.9), "Order the list"));
}

// --- counters ------------------------------------------------------------------------------------------------------
#define COUNTERS(at)                                                                     \
    BEGIN "ld.global.u32 %r6, [%rd3]; mov.u32 %r9, tile; mad.lo.s32 %r7, %r6, 4, %r9;\n" \
          "red.shared.add.u32 [%r7+" at "], %r6; st.global.u32 [%rd3], %r6; ret;"

// What is said of lanes that meet on counters in a CTA's 8 KiB; "" nothing.
static const char *of_counters(const char *body) {
    static char text[256];
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    view->gpu = &gpu;
    view->launches.total_ns = 100000;
    s.subject.function.shared_bytes = 8 << 10;
    view->occupancy = (ViewOccupancy){.ctas_per_sm = 4, .warps_per_cta = 4, .warps_per_sm = 16, .waves = 2};
    sample_waits(&s, view, 500);
    sampled_end(&s);
    CasePart *part = &s.c.parts[0];
    for (u32 i = 0; i < part->access_count; i++) {
        if (!part->accesses[i].atomic) continue;
        part->insns[part->accesses[i].pc].turn = 16 * 4;  // of which 16 lanes meet
        part->insns[part->accesses[i].pc].use[RESOURCE_LSU] = 0.5;
    }
    const Hit *hit = ask(&s, "atomic-contention");
    snprintf(text, sizeof text, "%s", hit ? hit->basis : "");
    forget(&s);
    return text;
}

// An SM has room for 16 KiB of each of four CTAs, 1 KiB of it reserved and 8 taken: 7 KiB more.
TEST(copies_are_of_counters_and_not_of_all_that_a_cta_has) {
    assert_string_equal(of_counters(COUNTERS("0")), "");
    assert_non_null(strstr(of_counters(COUNTERS("4096")), "one in 2 lanes"));
    assert_non_null(strstr(of_counters(COUNTERS("7168")), "one in 8 lanes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_that_keep_the_l2_busy_are_out_of_order),
                                       cmocka_unit_test(places_that_threads_know_besides_are_no_list),
                                       cmocka_unit_test(copies_are_of_counters_and_not_of_all_that_a_cta_has)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
