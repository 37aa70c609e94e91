// SPDX-License-Identifier: Apache-2.0
// What the machine issues for the kernels of tests/time/*.ptx, against the .expect beside each. Run with --update to
// rewrite those; look at the difference before committing it.
#include <glob.h>

#include "base/golden_testing.h"
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code_print.h"
#include "sim/time/time_code_testing.h"

static void print_module(TestDevice *d, TextBuffer *out) {
    const Module *m = sim_module_ptx(d->module);
    FlowText text = {.out = out};
    for (FuncRef i = 0; i < m->func_count; i++) {
        if (!m->funcs[i].is_entry || !m->funcs[i].has_body) continue;
        SimProgram *program;
        TimeCode *code;
        assert_int_equal(program_build(d->module, i, &program, &d->diag), STATUS_OK);
        assert_int_equal(time_code_build(program, &d->gpu, (SimMachineCode){0}, &code), STATUS_OK);
        flow_print(&text, "%s\n", module_text(m, m->funcs[i].name));
        assert_int_equal(text.status, STATUS_OK);
        assert_int_equal(time_code_print(code, out), STATUS_OK);
        time_code_free(code);
        program_free(program);
    }
}

static void check_file(const char *path) {
    FileData file;
    Diag diag = {0};
    TestDevice d;
    TextBuffer out = {0};
    char text[1 << 15];
    assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
    assert_true(file.size < sizeof text);
    memcpy(text, file.data, file.size);
    text[file.size] = 0;
    device_open(&d, text);
    set_test_timing(&d.gpu);
    print_module(&d, &out);
    golden_compare(path, ".ptx", out.data, out.len);
    vec_free(&out);
    device_close(&d);
    file_release(&file);
    diag_free(&diag);
}

TEST(kernels_become_what_is_expected) {
    glob_t found;
    assert_int_equal(glob("tests/time/*.ptx", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) check_file(found.gl_pathv[i]);
    globfree(&found);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_become_what_is_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
