// SPDX-License-Identifier: Apache-2.0
// The checker from the inside: bits of written memory, quarantine of freed addresses, what findings say and how they
// are counted. Kernels with planted errors: tests/check/.
#include "sim/check/check.h"

#include "sim/device_testing.h"

static const char kernels[] =
    PTX_HEAD ".visible .entry put(.param .u64 at, .param .u32 n)\n"
             "{ .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;\n"
             "ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
             "setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
             "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2; ret; }\n"
             ".visible .entry get(.param .u64 at, .param .u64 to)\n"
             "{ .reg .b64 %rd<6>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [at]; ld.param.u64 %rd4, [to]; mov.u32 %r2, %tid.x;\n"
             "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];\n"
             "add.u64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r3; ret; }\n"
             ".visible .entry unrolled(.param .u64 at)\n"
             "{ .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
             "ld.param.u64 %rd1, [at]; mov.u32 %r2, %tid.x;\n"
             "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
             ".loc 1 7 5\nst.global.u32 [%rd3], %r2;\n.loc 1 6 3\nadd.u64 %rd3, %rd3, 256;\n"
             ".loc 1 7 5\nst.global.u32 [%rd3], %r2;\nst.global.u8 [%rd3], %r2;\n"
             ".loc 1 7 9\nst.global.u32 [%rd3], %r2;\nret; }\n"
             ".file 1 \"planted.cu\"\n";

typedef struct Told {
    u32 count;
    SimFinding last;
} Told;

static void note(void *context, const SimFinding *finding) {
    Told *told = context;
    told->count++;
    told->last = *finding;
}

static void open_checked(TestDevice *d, Told *told, u32 checks) {
    memset(d, 0, sizeof *d);
    *told = (Told){0};
    assert_int_equal(gpu_load("gpus", "h200", &d->gpu, &d->diag), STATUS_OK);
    SimConfig config = {.gpu = &d->gpu,
                        .devices = 1,
                        .threads = 1,
                        .print = device_print_hook,
                        .print_context = d,
                        .checks = checks,
                        .finding = note,
                        .finding_context = told};
    assert_int_equal(sim_create(&config, &d->sim), STATUS_OK);
    Module *module;
    assert_int_equal(ptx_load((Str){kernels, strlen(kernels)}, "test.ptx", &module, &d->diag), STATUS_OK);
    assert_int_equal(sim_load_module(d->sim, 0, module, &d->module, &d->diag), STATUS_OK);
}

static void put(TestDevice *d, DevicePtr at, u32 n) {
    struct {
        u64 at;
        u32 n;
    } params = {at, n};
    device_run(d, "put", 1, 64, &params);
}

static void bits_are_set_and_read_by_ranges(void **state) {
    (void)state;
    u8 bits[64] = {0};
    for (u64 first = 0; first < 40; first++)
        for (u64 count = 1; count < 200; count += count < 20 ? 1 : 37) {
            memset(bits, 0, sizeof bits);
            check_bits_set(bits, first, count, true);
            assert_true(check_bits_all(bits, first, count));
            assert_false(check_bits_none(bits, first + count - 1, 1));
            assert_false(check_bits_all(bits, first, count + 1));
            if (first) assert_true(check_bits_none(bits, 0, first));
            assert_true(check_bits_none(bits, first + count, 100));
            check_bits_set(bits, first, count, false);
            assert_true(check_bits_none(bits, 0, 300));
        }
}

static void names_of_checks(void **state) {
    (void)state;
    assert_int_equal(sim_checks_of("memory"), CHECK_MEMORY);
    assert_int_equal(sim_checks_of("race,sync"), CHECK_RACE | CHECK_SYNC);
    assert_int_equal(sim_checks_of("all,strict"), CHECK_ALL | CHECK_STRICT);
    assert_int_equal(sim_checks_of(""), 0);
    assert_int_equal(sim_checks_of("memory,"), 0);
    assert_int_equal(sim_checks_of("memor"), 0);
    assert_int_equal(sim_checks_of("memory race"), 0);
}

static void findings_are_told_once_and_counted(void **state) {
    (void)state;
    TestDevice d;
    Told told;
    open_checked(&d, &told, CHECK_ALL);
    DevicePtr at = device_memory(&d, NULL, 40 * 4);
    put(&d, at, 40);
    assert_int_equal(told.count, 0);
    put(&d, at, 64);
    put(&d, at, 64);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.last.rule, "memory.out_of_bounds");
    assert_int_equal(told.last.address, at + 160);
    assert_int_equal(told.last.place.thread[0], 40);
    SimCheckTotals totals = sim_check_totals(d.sim);
    assert_int_equal(totals.errors, 1);
    assert_int_equal(totals.occurrences, 48);
    char text[2048];
    size_t length = sim_finding_text(&told.last, NULL, false, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "Invalid __global__ write of 4 bytes: out of bounds [memory.out_of_bounds]"));
    assert_non_null(strstr(text, "by thread (40,0,0) of block (0,0,0)"));
    assert_non_null(strstr(text, "0 bytes past the end of the nearest allocation"));
    assert_int_equal(sim_finding_text(&told.last, NULL, false, text, 10), length);  // cut, not overrun
    device_close(&d);
}

// Two copies of a store are one finding; another width and another place of the line are findings of their own.
static void copies_of_an_unrolled_access_are_one(void **state) {
    (void)state;
    TestDevice d;
    Told told;
    open_checked(&d, &told, CHECK_MEMORY);
    u64 at = device_memory(&d, NULL, 128);
    device_run(&d, "unrolled", 1, 64, &at);
    assert_int_equal(told.count, 3);
    SimCheckTotals totals = sim_check_totals(d.sim);
    assert_int_equal(totals.errors, 3);
    assert_int_equal(totals.occurrences, 32 + 64 + 64 + 64);
    device_close(&d);
}

static void freed_addresses_rest(void **state) {
    (void)state;
    TestDevice d;
    Told told;
    open_checked(&d, &told, CHECK_MEMORY);
    DevicePtr first = device_memory(&d, NULL, 256);
    assert_int_equal(sim_free(d.sim, first), STATUS_OK);
    for (u32 i = 0; i < 100; i++) {
        DevicePtr next = device_memory(&d, NULL, 256);
        assert_true(next != first);
        assert_int_equal(sim_free(d.sim, next), STATUS_OK);
    }
    put(&d, first, 64);
    assert_string_equal(told.last.rule, "memory.use_after_free");
    device_close(&d);
}

static void copies_carry_what_is_unwritten(void **state) {
    (void)state;
    TestDevice d;
    Told told;
    open_checked(&d, &told, CHECK_INIT);
    DevicePtr a = device_memory(&d, NULL, 256), b = device_memory(&d, NULL, 256), c = device_memory(&d, NULL, 256);
    u64 params[2] = {b, c};
    sim_check_written(d.sim, b, 256);
    device_run(&d, "get", 1, 64, params);
    assert_int_equal(told.count, 0);
    sim_check_written(d.sim, a, 128);
    sim_check_copied(d.sim, b, a, 256);  // its second half is unwritten again
    device_run(&d, "get", 1, 64, params);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.last.rule, "init.global");
    assert_int_equal(told.last.address, b + 128);
    assert_int_equal(told.last.count, 32);
    device_close(&d);
}

static void nothing_is_checked_unless_asked(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr at = device_memory(&d, NULL, 160);
    struct {
        u64 at;
        u32 n;
    } params = {at, 64};
    assert_int_equal(device_try(&d, "put", 1, 64, &params), STATUS_FAULT);
    assert_int_equal(sim_fault_code(d.sim), 700);
    sim_check_written(d.sim, at, 160);
    sim_check_finish(d.sim, true);
    assert_int_equal(sim_check_totals(d.sim).errors, 0);
    device_close(&d);
}

// Leaks of programs: tests/check_api.sh.
static void memory_that_no_function_asked_for_is_no_leak(void **state) {
    (void)state;
    TestDevice d;
    Told told;
    open_checked(&d, &told, CHECK_MEMORY);
    device_memory(&d, NULL, 100);
    sim_check_finish(d.sim, true);
    assert_int_equal(sim_check_totals(d.sim).leaks, 0);
    assert_int_equal(told.count, 0);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_set_and_read_by_ranges),
        cmocka_unit_test(names_of_checks),
        cmocka_unit_test(findings_are_told_once_and_counted),
        cmocka_unit_test(copies_of_an_unrolled_access_are_one),
        cmocka_unit_test(freed_addresses_rest),
        cmocka_unit_test(copies_carry_what_is_unwritten),
        cmocka_unit_test(nothing_is_checked_unless_asked),
        cmocka_unit_test(memory_that_no_function_asked_for_is_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
