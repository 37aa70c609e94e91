// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/testing.h"

// A complete model; `extra` is appended. Loads it from a temporary file.
static Status load_text(const char *text, GpuModel *model, Diag *diag) {
    char path[] = "/tmp/warplens-gpu-XXXXXX.gpu";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    Status status = gpu_load("gpus", path, model, diag);
    unlink(path);
    return status;
}

// The one message of a model that is wrong.
static void expect_error(const char *line, u32 number, const char *message) {
    GpuModel model;
    Diag diag = {0};
    assert_int_equal(load_text(line, &model, &diag), STATUS_INVALID);
    bool found = false;
    for (u32 i = 0; i < diag.entries.len; i++)
        found |= diag.entries.data[i].line == number && strstr(diag.entries.data[i].text, message);
    if (!found) fail_msg("no message '%s' in line %u for: %s", message, number, line);
    diag_free(&diag);
}

TEST(every_shipped_model_loads) {
    char **ids;
    u32 count;
    assert_int_equal(gpu_list("gpus", &ids, &count, NULL), STATUS_OK);
    assert_true(count >= 3);
    for (u32 i = 0; i < count; i++) {
        GpuModel model;
        Diag diag = {0};
        assert_int_equal(gpu_load("gpus", ids[i], &model, &diag), STATUS_OK);
        assert_int_equal(diag.errors, 0);
        assert_string_equal(model.id, ids[i]);
        const char *missing = "";
        if (!gpu_has_timing(&model, &missing)) fail_msg("%s has no %s", ids[i], missing);
        if (i) assert_true(strcmp(ids[i - 1], ids[i]) < 0);
        diag_free(&diag);
    }
    gpu_list_free(ids, count);
}

TEST(h200_has_the_measured_values) {
    GpuModel m;
    assert_int_equal(gpu_load("gpus", "h200", &m, NULL), STATUS_OK);
    assert_string_equal(m.name, "NVIDIA H200");
    assert_int_equal(m.sm_version, 90);
    assert_int_equal(m.sms, 132);
    assert_int_equal(m.shared_per_sm, 233472);
    assert_int_equal(m.shared_per_cta_optin, 232448);
    assert_int_equal(m.max_threads_per_sm, 2048);  // inherited
    assert_true(m.memory_bytes == 150109880320ull);
    assert_int_equal(m.l2_bytes, 62914560);
}

TEST(page_of_keys_is_current) { assert_int_equal(system("tools/gen_gpu_doc.sh | diff -u docs/gpu-keys.md - >&2"), 0); }

TEST(every_key_is_read) { assert_int_equal(system("tools/check_gpu_keys.sh"), 0); }

// A model without timing names what it lacks; 0 is a value.
TEST(timing_is_there_or_something_is_missing) {
    GpuModel m;
    const char *missing = NULL;
    assert_int_equal(load_text("inherit = h200\n", &m, NULL), STATUS_OK);
    memset(m.timing_given, 1, sizeof m.timing_given);
    assert_true(gpu_has_timing(&m, &missing));
    assert_null(missing);
    m.timing_given[GPU_TIMING_shared_banks] = false;
    assert_false(gpu_has_timing(&m, &missing));
    assert_string_equal(missing, "shared_banks");
    Diag diag = {0};
    assert_int_equal(gpu_need_timing(&m, "mine.gpu", &diag), STATUS_INVALID);
    assert_non_null(strstr(diag.entries.data[0].text, "shared_banks is missing"));
    diag_free(&diag);
    assert_int_equal(load_text("inherit = h200\nicache_l0 = 0 bytes\n", &m, NULL), STATUS_OK);
    assert_true(m.timing_given[GPU_TIMING_icache_l0]);
}

TEST(mistakes_are_told_with_their_line) {
    expect_error("inherit = h200\nsmss = 3\n", 2, "unknown key 'smss'");
    expect_error("inherit = h200\nsms = many\n", 2, "not a whole number");
    expect_error("inherit = h200\nsms = -3\n", 2, "not a whole number");
    expect_error("inherit = h200\nclock = 5 bits\n", 2, "unit 'bits' does not fit");
    expect_error("inherit = h200\nl2_size = 60 mb\n", 2, "unit 'mb' does not fit, it is measured in bytes, kB,");
    expect_error("inherit = h200\nsms = 0\n", 2, "out of range");
    expect_error("inherit = h200\nmemory = 18446744073709551615 GiB\n", 2, "out of range");
    expect_error("inherit = h200\n\nsms\n", 3, "expected");
    expect_error("inherit = h200\nsms = 3\nsms = 4\n", 3, "given twice");
    expect_error("inherit = h200\ninherit = h200\n", 2, "given twice");
    expect_error("name = x\n", 0, "sms is missing");
    expect_error("inherit = h200\nshared_per_cta = 300 KiB\n", 0, "more shared memory than an SM");
    expect_error("inherit = h200\nshared_bank_bytes = 6\n", 0, "shared_bank_bytes must be 4 or 8");
    expect_error("inherit = h200\nl1_sector = 64\n", 0, "l1_sector must be 32, or 128: whole lines");
    expect_error("inherit = h200\nl1_sets = 500\n", 0, "l1_sets must be a power of two");
    expect_error("inherit = h200\nl1_ways = 0\n", 0, "l1_ways must be 1 to 64");
    expect_error("inherit = h200\nl2_sector = 256\n", 0, "l2_sector must be at most l2_line");
    expect_error("inherit = h200\nl2_fetch = 33\n", 0, "must be powers of two");
    expect_error("inherit = h200\ndram_burst = 9\n", 0, "dram_burst must be a power of two");
    expect_error("inherit = h200\ntRFC = 3084\n", 0, "tREFI must be more than tRFC");
}

TEST(timing_words_and_texts) {
    expect_error("inherit = h200\nscheduler = fifo\n", 2, "'fifo' is none of: lrr gto two-level oldest grr cta-grr");
    expect_error("inherit = h200\nscheduler = gt\n", 2, "'gt' is none of");
    expect_error("inherit = h200\nscheduler =\n", 2, "'' is none of");
    expect_error("inherit = h200\nscheduler = lrr gto\n", 2, "'lrr gto' is none of");
    expect_error("inherit = h200\ndram = a kind of memory\n", 2, "1 to 15 characters");
    expect_error("inherit = h200\naddress_map =\n", 2, "1 to 255 characters");
    expect_error("inherit = h200\ntRCD = 5 bits\n", 2, "measured in cycles");
    expect_error("inherit = h200\nl1_write = evict\nl1_write = through\n", 3, "given twice");
    expect_error("inherit = h200\naddress_map = slice = interleave(9); bnak = local(10)\n", 0,
                 "column 24: channel, slice, bank or side");
    GpuModel m;
    const char *text = "inherit = h200\nscheduler = oldest\nl1_write=through\ndram = GDDR6X # kind\naddress_map = "
                       "slice = interleave(8); bank = local(10:13)\n"
                       "tRCD = 12 cycles\nicache_l0 = 2 KiB\ndram_banks = 16\n";
    assert_int_equal(load_text(text, &m, NULL), STATUS_OK);
    assert_int_equal(m.scheduler, 3);
    assert_int_equal(m.l1_write, 0);
    assert_string_equal(m.dram_kind, "GDDR6X");
    assert_string_equal(m.address_map, "slice = interleave(8); bank = local(10:13)");
    assert_int_equal(m.t_rcd, 12);
    assert_int_equal(m.icache_l0, 2048);
}

TEST(units_and_comments) {
    GpuModel m;
    const char *text = "inherit = h200 # base\nl2_size = 2 MB\n# nothing\nsms=7 count\nname = My GPU\n";
    assert_int_equal(load_text(text, &m, NULL), STATUS_OK);
    assert_int_equal(m.l2_bytes, 2000000);
    assert_int_equal(m.sms, 7);
    assert_int_equal(m.sm_version, 90);
    assert_string_equal(m.name, "My GPU");
    assert_int_equal(gpu_load("gpus", "nosuch", &m, NULL), STATUS_NOT_FOUND);
}

TEST(circles_end) {
    char folder[] = "/tmp/warplens-gpus-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.gpu", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("inherit = a\n", file);
    fclose(file);
    GpuModel m;
    Diag diag = {0};
    assert_int_equal(gpu_load(folder, "a", &m, &diag), STATUS_INVALID);
    assert_true(diag.errors > 0);
    diag_free(&diag);
    unlink(path);
    rmdir(folder);
}

TEST(memory_may_run_out) {
    for (u64 n = 0; n < 40; n++) {
        GpuModel m;
        u64 left = n;
        testing_memory_out_after(&left);
        Status status = gpu_load("gpus", "h200", &m, NULL);
        testing_memory_back();
        if (status == STATUS_OK) return;
    }
    fail_msg("loading never succeeded");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_model_loads),
        cmocka_unit_test(h200_has_the_measured_values),
        cmocka_unit_test(page_of_keys_is_current),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(timing_is_there_or_something_is_missing),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(timing_words_and_texts),
        cmocka_unit_test(units_and_comments),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
