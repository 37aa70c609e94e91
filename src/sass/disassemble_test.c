// SPDX-License-Identifier: Apache-2.0
// nvdisasm is a script here.
#include "base/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sass/disassemble.h"

static char folder[64], tool[96];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/wl_sass_XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(tool, sizeof tool, "%s/nvdisasm", folder);
    return setenv("TMPDIR", folder, 1);
}

static int remove_folder(void **state) {
    (void)state;
    unsetenv("TMPDIR");
    unlink(tool);
    return rmdir(folder);  // nothing else may be left in it
}

static void make_tool(const char *body) {
    FILE *file = fopen(tool, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(tool, 0755), 0);
}

static Status run(const char *cubin, u32 timeout_ms, SassText *json, u32 *notes) {
    Diag diag = {0};
    Status status = sass_disassemble(tool, (const u8 *)cubin, strlen(cubin), timeout_ms, json, &diag);
    *notes = diag.entries.len;
    diag_free(&diag);
    return status;
}

TEST(output_is_the_listing) {
    SassText json = {0};
    u32 notes;
    make_tool("test \"$1\" = -json && cat \"$2\" && echo trouble >&2");
    assert_int_equal(run("machine code", 10000, &json, &notes), STATUS_OK);
    assert_int_equal(json.len, 12);
    assert_memory_equal(json.data, "machine code", 12);
    assert_int_equal(notes, 0);
    vec_free(&json);
}

TEST(long_output_is_whole) {
    SassText json = {0};
    u32 notes;
    make_tool("i=0; while [ $i -lt 2000 ]; do printf '%0500d' $i; i=$((i+1)); done");
    assert_int_equal(run("", 60000, &json, &notes), STATUS_OK);
    assert_int_equal(json.len, 1000000);
    assert_memory_equal(json.data + 999996, "1999", 4);
    vec_free(&json);
}

TEST(some_functions_only) {
    static const u32 symbols[] = {3, 17, 4000000000u};
    SassText json = {0};
    make_tool("test \"$1\" = -json && test -f \"$2\" && shift 2 && printf '%s ' \"$@\"");
    Status status = sass_disassemble_some(tool, (const u8 *)"x", 1, symbols, 3, 10000, &json, NULL);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(json.len, 21);
    assert_memory_equal(json.data, "-fun 3,17,4000000000 ", 21);
    vec_free(&json);
}

TEST(failures_are_told_apart) {
    static const struct {
        const char *body;
        Status status;
    } cases[] = {
        {"exit 1", STATUS_UNSUPPORTED},
        {"kill -9 $$", STATUS_UNSUPPORTED},
        {"exec /nowhere/at/all", STATUS_NOT_FOUND},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        SassText json = {0};
        u32 notes;
        make_tool(cases[i].body);
        assert_int_equal(run("x", 10000, &json, &notes), cases[i].status);
        assert_int_equal(notes, 1);
        vec_free(&json);
    }
}

TEST(hanging_tool_is_killed) {
    SassText json = {0};
    u32 notes;
    make_tool("exec sleep 1000");
    assert_int_equal(run("x", 20, &json, &notes), STATUS_CANCELLED);
    assert_int_equal(notes, 1);
    vec_free(&json);
}

TEST(tool_is_found) {
    Arena arena = {0};
    char path[128], *old = getenv("PATH");
    char *kept = old ? strdup(old) : NULL;
    make_tool("exit 0");
    snprintf(path, sizeof path, "/nowhere::%s", folder);
    setenv("PATH", path, 1);
    const char *found = sass_find_tool(&arena);
    assert_non_null(found);
    assert_string_equal(found, tool);
    if (kept) setenv("PATH", kept, 1);
    free(kept);
    arena_free(&arena);
}

TEST(temporary_folder_that_is_none) {
    SassText json = {0};
    u32 notes;
    make_tool("exit 0");
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(run("x", 1000, &json, &notes), STATUS_IO);
    assert_int_equal(notes, 1);
    vec_free(&json);
}

#define WITH_TOOL(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TOOL(some_functions_only),           WITH_TOOL(output_is_the_listing),  WITH_TOOL(long_output_is_whole),
        WITH_TOOL(failures_are_told_apart),       WITH_TOOL(hanging_tool_is_killed), WITH_TOOL(tool_is_found),
        WITH_TOOL(temporary_folder_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
