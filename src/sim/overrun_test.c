// SPDX-License-Identifier: Apache-2.0
// Accesses beyond allocations: what a GPU does not notice goes on and is told once, all else is a fault.
#include "sim/device_testing.h"

enum { PAGE = 2 << 20 };

// peek: the word at `from` goes to `out`. poke: 1 goes to `from`.
static const char text[] = PTX_HEAD
    ".visible .entry peek(.param .u64 from, .param .u64 out) { .reg .b32 %r<2>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [from]; ld.param.u64 %d2, [out]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1; ret; }\n"
    ".visible .entry poke(.param .u64 from, .param .u64 out) { .reg .b32 %r<2>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [from]; mov.u32 %r1, 1; st.global.u32 [%d1], %r1; ret; }\n"
    // Writes to offset `from` of 100 bytes of shared memory, and gives back what it reads there.
    ".visible .entry behind(.param .u64 from, .param .u64 out) { .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    ".shared .align 4 .b8 room[100]; ld.param.u64 %d1, [from]; ld.param.u64 %d2, [out]; cvt.u32.u64 %r1, %d1;\n"
    "mov.u32 %r2, room; add.s32 %r1, %r1, %r2; mov.u32 %r3, 7; st.shared.u32 [%r1], %r3; ld.shared.u32 %r2, [%r1];\n"
    "st.global.u32 [%d2], %r2; ret; }\n";

static Status access_at(TestDevice *d, const char *kernel, DevicePtr memory, i64 offset) {
    u64 params[2] = {memory + (u64)offset, memory};
    return device_try(d, kernel, 1, 1, params);
}

static u32 told(const TestDevice *d, DiagSeverity severity) {
    u32 count = 0;
    for (u32 i = 0; i < d->diag.entries.len; i++) count += d->diag.entries.data[i].severity == severity;
    return count;
}

static DevicePtr open_paged(TestDevice *d, u64 page) {
    device_open_with(d, text, (SimConfig){.threads = 1, .print = device_print_hook, .print_context = d, .page = page});
    return device_memory(d, NULL, 1024);
}

TEST(reads_in_the_page_of_an_allocation_go_on) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, PAGE);
    assert_int_equal(access_at(&d, "peek", memory, 1024), STATUS_OK);
    assert_int_equal(access_at(&d, "peek", memory, PAGE - 4), STATUS_OK);
    assert_int_equal(access_at(&d, "peek", memory, -1024), STATUS_OK);
    assert_int_equal(told(&d, DIAG_WARNING), 1);
    assert_int_equal(told(&d, DIAG_ERROR), 0);
    device_close(&d);
}

// bench/hwref/h200-placement.tsv, managed: 64 KiB behind an allocation of 4 KiB. Its pages have no neighbours here.
TEST(managed_memory_goes_on_to_the_end_of_its_page) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, PAGE), managed;
    assert_int_equal(sim_alloc(d.sim, 0, MEMORY_MANAGED, 4096, 256, &managed), STATUS_OK);
    u64 params[2] = {managed + 65536, memory}, far[2] = {managed + PAGE, memory};
    assert_int_equal(device_try(&d, "peek", 1, 1, params), STATUS_OK);
    assert_int_equal(told(&d, DIAG_WARNING), 1);
    assert_int_equal(device_try(&d, "peek", 1, 1, far), STATUS_FAULT);
    device_close(&d);
}

// ... freed: a word of 4 KiB that were given back, beside an allocation that was not.
TEST(what_was_freed_is_there_until_it_is_used_again) {
    TestDevice d;
    DevicePtr out = open_paged(&d, PAGE), freed = device_memory(&d, NULL, 4096), again;
    *(u32 *)device_view(&d, freed + 4092, 4) = 7;
    assert_int_equal(sim_free(d.sim, freed), STATUS_OK);
    u64 params[2] = {freed + 4092, out};
    assert_int_equal(device_try(&d, "peek", 1, 1, params), STATUS_OK);
    assert_int_equal(*(u32 *)device_view(&d, out, 4), 7);
    assert_int_equal(told(&d, DIAG_WARNING), 1);
    again = device_memory(&d, NULL, 4096);
    assert_int_equal(again, freed);
    assert_int_equal(*(u32 *)device_view(&d, again + 4092, 4), 0);
    device_close(&d);
}

TEST(reads_farther_away_are_faults) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, PAGE);
    assert_int_equal(access_at(&d, "peek", memory, PAGE), STATUS_FAULT);
    assert_int_equal(told(&d, DIAG_ERROR), 1);
    device_close(&d);
}

// bench/hwref/h100-shared-ends.tsv: dynamic/write, 100 bytes. Without pages, as --check memory has it, no byte goes.
static Status behind(u64 page, u64 offset, u32 *warnings) {
    TestDevice d;
    u64 params[2] = {offset, open_paged(&d, page)};
    Status status = device_try(&d, "behind", 1, 1, params);
    if (status == STATUS_OK) assert_int_equal(*(u32 *)device_view(&d, params[1], 4), 7);
    *warnings = told(&d, DIAG_WARNING);
    device_close(&d);
    return status;
}

TEST(shared_memory_goes_on_to_the_end_of_its_unit) {
    u32 warnings;
    assert_int_equal(behind(PAGE, 96, &warnings), STATUS_OK);
    assert_int_equal(warnings, 0);
    assert_int_equal(behind(PAGE, 100, &warnings), STATUS_OK);
    assert_int_equal(warnings, 1);
    assert_int_equal(behind(PAGE, 124, &warnings), STATUS_OK);
    assert_int_equal(behind(PAGE, 128, &warnings), STATUS_FAULT);
    assert_int_equal(behind(0, 100, &warnings), STATUS_FAULT);
}

TEST(writes_go_on_where_reads_do) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, PAGE);
    assert_int_equal(access_at(&d, "poke", memory, 1024), STATUS_OK);
    assert_int_equal(told(&d, DIAG_WARNING), 1);
    assert_int_equal(access_at(&d, "poke", memory, PAGE), STATUS_FAULT);
    device_close(&d);
}

TEST(the_page_before_the_first_allocation_is_not_written) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, PAGE);
    assert_int_equal(access_at(&d, "poke", memory, -1024), STATUS_FAULT);
    device_close(&d);
}

TEST(without_pages_every_read_beyond_is_a_fault) {
    TestDevice d;
    DevicePtr memory = open_paged(&d, 0);
    assert_int_equal(access_at(&d, "peek", memory, 1024), STATUS_FAULT);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_in_the_page_of_an_allocation_go_on),
                                       cmocka_unit_test(managed_memory_goes_on_to_the_end_of_its_page),
                                       cmocka_unit_test(what_was_freed_is_there_until_it_is_used_again),
                                       cmocka_unit_test(reads_farther_away_are_faults),
                                       cmocka_unit_test(shared_memory_goes_on_to_the_end_of_its_unit),
                                       cmocka_unit_test(writes_go_on_where_reads_do),
                                       cmocka_unit_test(the_page_before_the_first_allocation_is_not_written),
                                       cmocka_unit_test(without_pages_every_read_beyond_is_a_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
