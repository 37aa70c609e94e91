// SPDX-License-Identifier: Apache-2.0
// What a profile keeps of a program that is killed: everything up to the last half second, also while a launch takes
// minutes. The clock is the test's own.
#include <time.h>

#include "sim/device_testing.h"

static const char *const kernels =
    PTX_HEAD ".visible .entry turns(.param .u64 p) { .reg .u32 %r<3>; .reg .u64 %d<2>; .reg .pred %p<2>;\n"
             "ld.param.u64 %d1, [p]; cvt.u32.u64 %r2, %d1; mov.u32 %r1, 0;\n"
             "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra LOOP; ret; }\n";

static long step_ns;  // that each look at the clock takes

int clock_gettime(clockid_t clock, struct timespec *time) {
    static long now = 1000000000;
    (void)clock;
    now += step_ns;
    *time = (struct timespec){now / 1000000000, now % 1000000000};
    return 0;
}

typedef struct Kept {
    Sink sink;
    u32 ended, flushes, before_end;  // launches; flushes; those before the second launch's end
} Kept;

static Status write_record(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    (void)fixed, (void)tail, (void)size;
    ((Kept *)sink)->ended += kind == RECORD_LAUNCH_END;
    return STATUS_OK;
}

static Status flush(Sink *sink) {
    Kept *kept = (Kept *)sink;
    kept->flushes++;
    kept->before_end += kept->ended == 1;
    return STATUS_OK;
}

static void launch(TestDevice *d, u64 turns) {
    SimKernel *kernel;
    assert_int_equal(sim_find_kernel(d->sim, d->module, "turns", &kernel), STATUS_OK);
    SimLaunch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &turns, .record = true};
    assert_int_equal(sim_launch(d->sim, &l, NULL, &d->diag), STATUS_OK);
}

static void a_long_launch_keeps_what_came_before(void **state) {
    (void)state;
    TestDevice d;
    Kept kept = {.sink = {.write = write_record, .flush = flush}};
    device_open_with(&d, kernels, (SimConfig){.threads = 1, .sink = &kept.sink});
    step_ns = 1000;
    launch(&d, 10);
    assert_int_equal(kept.ended, 1);
    assert_int_equal(kept.flushes, 0);
    step_ns = 400000000;
    launch(&d, 6000000);  // 18 million instructions
    assert_int_equal(kept.ended, 2);
    assert_true(kept.before_end > 0);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_launch_keeps_what_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
