// SPDX-License-Identifier: Apache-2.0
// The dumps named in the first line of each tests/flow/*.ptx against the .expect beside it. Run with --update to
// rewrite those; look at the difference before committing it.
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/golden_testing.h"
#include "base/testing.h"
#include "flow/flow_dump.h"

static void dump_function(const Module *module, FuncRef func, const CallGraph *calls, Str kinds, TextBuffer *out) {
    Arena arena = {0};
    FlowCode *code;
    FlowResults results;
    assert_int_equal(flow_from_ptx(module, func, &arena, &code), STATUS_OK);
    assert_int_equal(flow_analyse(code, &arena, &results), STATUS_OK);
    results.calls = calls;
    for (size_t at = 0; at < kinds.len;) {
        size_t len = 0;
        while (at + len < kinds.len && kinds.data[at + len] != ',') len++;
        u32 dump = flow_dump_find((Str){kinds.data + at, len});
        assert_int_not_equal(dump, WL_NONE);
        assert_int_equal(flow_dump((FlowDump)dump, &results, out), STATUS_OK);
        at += len + 1;
    }
    arena_free(&arena);
}

static void dump_module(const char *path, Str kinds, Str text, TextBuffer *out) {
    Module *module;
    Diag diag = {0};
    Status status = ptx_load(text, path, &module, &diag);
    char message[512] = "";
    if (diag.entries.len) diag_format(&diag.entries.data[0], message, sizeof message);
    diag_free(&diag);
    if (status != STATUS_OK) fail_msg("%s", message);
    Arena arena = {0};
    CallGraph *calls;
    assert_int_equal(flow_callgraph(module, &arena, &calls), STATUS_OK);
    for (u32 i = 0; i < module->func_count; i++)
        if (module->funcs[i].has_body) dump_function(module, i, calls, kinds, out);
    arena_free(&arena);
    module_free(module);
}

// "// dump: cfg,loops" in the first line
static Str kinds_of(Str text) {
    static const char mark[] = "// dump: ";
    assert_true(text.len > sizeof mark && memcmp(text.data, mark, sizeof mark - 1) == 0);
    const char *begin = text.data + sizeof mark - 1;
    const char *end = memchr(begin, '\n', text.len - (sizeof mark - 1));
    return (Str){begin, (size_t)(end - begin)};
}

static void check_file(const char *path) {
    FileData file;
    Diag diag = {0};
    TextBuffer out = {0};
    assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
    Str text = {(const char *)file.data, file.size};
    dump_module(path, kinds_of(text), text, &out);
    golden_compare(path, ".ptx", out.data, out.len);
    vec_free(&out);
    file_release(&file);
    diag_free(&diag);
}

TEST(dumps_are_as_expected) {
    glob_t files;
    assert_int_equal(glob("tests/flow/*.ptx", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) check_file(files.gl_pathv[i]);
    globfree(&files);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(dumps_are_as_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
