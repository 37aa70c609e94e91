// SPDX-License-Identifier: Apache-2.0
#include "cuda/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/testing.h"

static void expect_path(const char *pattern, const char *expected) {
    char path[256], problem[256];
    assert_int_equal(config_expand_path(pattern, path, sizeof path, problem, sizeof problem), STATUS_OK);
    assert_string_equal(path, expected);
    assert_string_equal(problem, "");
}

static void expect_problem(const char *pattern) {
    char path[256], problem[256];
    assert_int_equal(config_expand_path(pattern, path, sizeof path, problem, sizeof problem), STATUS_INVALID);
    assert_non_null(strstr(problem, pattern));
}

TEST(patterns_are_expanded) {
    char expected[256], host[200] = "";
    gethostname(host, sizeof host);
    setenv("WARPLENS_TEST", "x y", 1);
    unsetenv("WARPLENS_UNSET");
    snprintf(expected, sizeof expected, "a-%ld-%s.wlp", (long)getpid(), host);
    expect_path("a-%p-%h.wlp", expected);
    expect_path("100%%.wlp", "100%.wlp");
    expect_path("%q{WARPLENS_TEST}.wlp", "x y.wlp");
    expect_path("plain", "plain");
    expect_problem("a%z");
    expect_problem("a%");
    expect_problem("%q{WARPLENS_UNSET}");
    expect_problem("%q{WARPLENS_TEST");
    expect_problem("%qx");
}

TEST(long_names_are_refused) {
    char path[8], problem[64];
    assert_int_equal(config_expand_path("12345678", path, sizeof path, problem, sizeof problem), STATUS_LIMIT);
    assert_int_equal(config_expand_path("1234567", path, sizeof path, problem, sizeof problem), STATUS_OK);
}

TEST(numbers_skip_files_that_exist) {
    char folder[] = "/tmp/warplens-config-XXXXXX", pattern[64], first[64], second[64];
    assert_non_null(mkdtemp(folder));
    snprintf(pattern, sizeof pattern, "%s/%%i.wlp", folder);
    snprintf(first, sizeof first, "%s/1.wlp", folder);
    snprintf(second, sizeof second, "%s/2.wlp", folder);
    expect_path(pattern, first);
    FILE *file = fopen(first, "w");
    assert_non_null(file);
    fclose(file);
    expect_path(pattern, second);
    unlink(first);
    rmdir(folder);
}

TEST(siblings_have_their_pid_before_the_ending) {
    static const char *const cases[][2] = {{"run.wlp", "run.7.wlp"},
                                           {"run", "run.7"},
                                           {"a.b/run", "a.b/run.7"},
                                           {".hidden", ".hidden.7"},
                                           {"a/.x", "a/.x.7"}};
    char sibling[64];
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        assert_int_equal(config_sibling_path(cases[i][0], 7, sibling, sizeof sibling), STATUS_OK);
        assert_string_equal(sibling, cases[i][1]);
    }
    assert_int_equal(config_sibling_path("run.wlp", 7, sibling, 8), STATUS_LIMIT);
}

static void clear(void) {
    for (u32 i = 0; i < CONFIG_COUNT; i++) unsetenv(config_name(i));
}

TEST(defaults) {
    CudaConfig config;
    char problem[256];
    clear();
    config_read(&config, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_string_equal(config.output, "");
    assert_string_equal(config.gpu, "h200");
    assert_int_equal(config.devices, 1);
    assert_true(config.threads >= 1);
    assert_true(config.launch_count == UINT64_MAX);
    assert_false(config.overwrite);
}

TEST(devices_may_be_of_different_models) {
    CudaConfig config;
    char problem[512], model[64];
    setenv(config_name(CONFIG_GPU), "v100", 1);
    setenv(config_name(CONFIG_GPUS), "h200,./my.gpu,t4", 1);
    config_read(&config, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_int_equal(config.devices, 3);
    config_gpu_of(&config, 1, model, sizeof model);
    assert_string_equal(model, "./my.gpu");
    config_gpu_of(&config, 2, model, sizeof model);
    assert_string_equal(model, "t4");
    setenv(config_name(CONFIG_GPUS), "2", 1);
    config_read(&config, problem, sizeof problem);
    config_gpu_of(&config, 1, model, sizeof model);
    assert_string_equal(model, "v100");
    assert_int_equal(config_count_gpus(""), 0);
    assert_int_equal(config_count_gpus("h200,,t4"), 0);
    assert_int_equal(config_count_gpus("-1"), 1);  // a model of that name, which is then not found
    unsetenv(config_name(CONFIG_GPU));
    unsetenv(config_name(CONFIG_GPUS));
}

TEST(values_are_read_and_checked) {
    CudaConfig config;
    char problem[256];
    clear();
    setenv(config_name(CONFIG_GPUS), "4", 1);
    setenv(config_name(CONFIG_LAUNCH_SKIP), "10", 1);
    setenv(config_name(CONFIG_QUIET), "1", 1);
    setenv(config_name(CONFIG_PROGRESS), "1", 1);
    config_read(&config, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_int_equal(config.devices, 4);
    assert_int_equal(config.launch_skip, 10);
    assert_true(config.quiet);
    assert_false(config.progress);
    setenv(config_name(CONFIG_GPUS), "many,", 1);
    config_read(&config, problem, sizeof problem);
    assert_non_null(strstr(problem, "WARPLENS_GPUS=many,"));
    assert_int_equal(config.devices, 1);
    setenv(config_name(CONFIG_GPUS), "65", 1);
    config_read(&config, problem, sizeof problem);
    assert_non_null(strstr(problem, "1 to 64"));
    clear();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_expanded),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(numbers_skip_files_that_exist),
        cmocka_unit_test(siblings_have_their_pid_before_the_ending),
        cmocka_unit_test(defaults),
        cmocka_unit_test(devices_may_be_of_different_models),
        cmocka_unit_test(values_are_read_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
