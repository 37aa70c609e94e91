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

TEST(mistakes_are_told_with_their_line) {
    expect_error("inherit = h200\nsmss = 3\n", 2, "unknown key 'smss'");
    expect_error("inherit = h200\nsms = many\n", 2, "not a whole number");
    expect_error("inherit = h200\nsms = -3\n", 2, "not a whole number");
    expect_error("inherit = h200\nclock = 5 bits\n", 2, "unit 'bits' does not fit");
    expect_error("inherit = h200\nsms = 0\n", 2, "out of range");
    expect_error("inherit = h200\nmemory = 18446744073709551615 GiB\n", 2, "out of range");
    expect_error("inherit = h200\n\nsms\n", 3, "expected");
    expect_error("inherit = h200\nsms = 3\nsms = 4\n", 3, "given twice");
    expect_error("inherit = h200\ninherit = h200\n", 2, "given twice");
    expect_error("name = x\n", 0, "sms is missing");
    expect_error("inherit = h200\nshared_per_cta = 300 KiB\n", 0, "more threads or shared memory");
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
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(units_and_comments),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
