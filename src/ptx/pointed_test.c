// SPDX-License-Identifier: Apache-2.0
// Loads of parameters through registers that hold their addresses, as nvcc 13.0 writes them where a structure is handed
// on by reference.
#include "base/testing.h"
#include <setjmp.h>

#include <string.h>

#include "ptx/ptx.h"

#define KERNEL(body)                                                                                        \
    ".version 8.7\n.target sm_90\n.address_size 64\n"                                                       \
    ".visible .entry k(.param .u64 out, .param .align 4 .b8 p[64]) {\n.reg .b64 %rd<9>; .reg .f32 %f<9>;\n" \
    ".reg .pred %p<3>;\n" body "\nret;\n}\n"

// Whether the loaded kernel has the text.
static bool has(const char *ptx, const char *wanted) {
    Module *module;
    TextBuffer text = {0};
    Diag diag = {0};
    assert_int_equal(ptx_load((Str){ptx, strlen(ptx)}, "k.ptx", &module, &diag), STATUS_OK);
    assert_int_equal(ptx_print(module, &text), STATUS_OK);
    assert_int_equal(vec_push(&text, '\0'), STATUS_OK);
    bool found = strstr(text.data, wanted) != NULL;
    vec_free(&text);
    diag_free(&diag);
    module_free(module);
    return found;
}

static void loads_name_the_parameter(void **state) {
    (void)state;
    assert_true(has(KERNEL("mov.b64 %rd2, p; ld.param.f32 %f1, [%rd2+8];"), "[p+8]"));
    assert_true(has(KERNEL("mov.b64 %rd2, p; ld.param.v2.f32 {%f1, %f2}, [%rd2];"), "[p]"));
    assert_true(has(KERNEL("mov.u64 %rd2, p+16; ld.param.f32 %f1, [%rd2+8];"), "[p+24]"));
}

// Set twice, now and then, or from something else: the place is not known.
static void others_stay_as_they_are(void **state) {
    (void)state;
    assert_true(has(KERNEL("mov.b64 %rd2, p; add.s64 %rd2, %rd2, 4; ld.param.f32 %f1, [%rd2+8];"), "[%rd2+8]"));
    assert_true(has(KERNEL("mov.b64 %rd2, p; @%p1 mov.b64 %rd2, out; ld.param.f32 %f1, [%rd2+8];"), "[%rd2+8]"));
    assert_true(has(KERNEL("mov.b64 %rd2, p; add.s64 %rd3, %rd2, 4; ld.param.f32 %f1, [%rd3+8];"), "[%rd3+8]"));
    assert_true(has(KERNEL("ld.param.u64 %rd1, [out]; mov.b64 %rd2, %rd1; ld.global.f32 %f1, [%rd2+8];"), "[%rd2+8]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_name_the_parameter),
                                       cmocka_unit_test(others_stay_as_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
