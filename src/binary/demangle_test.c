// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "binary/demangle.h"

static void check(const char *mangled, const char *whole, const char *brief) {
    char *text = demangle_name(mangled);
    assert_string_equal(text, whole);
    mem_free(text);
    text = demangle_short(mangled);
    assert_string_equal(text, brief);
    mem_free(text);
}

TEST(kernels) {
    static const char *const cases[][3] = {
        {"_Z2mmPKfS0_Pfi", "mm(float const*, float const*, float*, int)", "mm"},
        {"_ZN2ns6kernelIfLi4EEEvPKT_i", "void ns::kernel<float, 4>(float const*, int)", "ns::kernel<float, 4>"},
        {"_ZN12_GLOBAL__N_11kIiEEvT_", "void (anonymous namespace)::k<int>(int)", "(anonymous namespace)::k<int>"},
        {"vprintf", "vprintf", "vprintf"},
        {"", "", ""},
        {"_Z", "_Z", "_Z"},
        {"_Zzzz", "_Zzzz", "_Zzzz"},
        {"_Z3fooi$2", "foo(int)$2", "foo$2"},
        {"__nv_static_35__e7147e2b_17_simpleMultiGPU_cu_main__Z12reduceKernelPfS_i",
         "reduceKernel(float*, float*, int)", "reduceKernel"},
        {"__nv_static_11__e7147e2b_x_plain", "plain", "plain"},
        {"__nv_static_99__short", "__nv_static_99__short", "__nv_static_99__short"},
        {"__nv_static_", "__nv_static_", "__nv_static_"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) check(cases[i][0], cases[i][1], cases[i][2]);
}

// A lambda within a lambda within a template, of modern C++: more than libiberty reads.
TEST(of_what_is_not_understood_the_name_stays) {
    static const char nested[] =
        "_ZN4mgpu16launch_box_cta_kINS_12launch_box_tIJNS_7arch_20INS_12launch_cta_tILi128ELi11ELi9ELi0EEENS_7empty_"
        "tEEEEEEZNS_13transform_lbsIS5_ZNS_13transform_lbsIS5_ZNS_19load_balance_searchIS5_PiSG_EEviT0_iT1_RNS_9context"
        "_tEEUliiiE_SG_JEEEvSH_iSI_iSK_DpT2_EUliiiNS_5tupleIJEEEE_SG_SP_JEEEvSH_iSI_iSM_SK_DpT3_EUliiE_JEEEvSH_iDpSI_";
    check(nested, "mgpu::launch_box_cta_k<..>", "mgpu::launch_box_cta_k<..>");
    check("_ZN12_GLOBAL__N_11kIQE", "(anonymous namespace)::k<..>", "(anonymous namespace)::k<..>");
    check("_Z4lineIQEvv$3", "line<..>$3", "line<..>$3");
    check("_Z4lineIQ", "_Z4lineIQ", "_Z4lineIQ");
    check("_Z9lineIQE", "_Z9lineIQE", "_Z9lineIQE");
}

// Long, deeply nested, or exploding: an answer in no time, whatever it is.
TEST(pathological_names_are_bounded) {
    char *name = mem_zero(1, DEMANGLE_MAX_INPUT + 100);
    for (u32 length = 100; length < DEMANGLE_MAX_INPUT + 64; length = length * 3 / 2) {
        memset(name, 'P', length);
        memcpy(name, "_Z1f", 4);
        strcpy(name + length, "i");
        char *text = demangle_name(name);
        assert_non_null(text);
        mem_free(text);
    }
    strcpy(name, "_Z1fI");  // pair<pair<..>, pair<..>>: each level doubles the output
    strcat(name, "1AIiiE");
    for (u32 i = 0; i < 30; i++) {
        char level[32], id[2] = {(char)(i == 0 ? 0 : i <= 10 ? '0' + i - 1 : 'A' + i - 11), 0};
        snprintf(level, sizeof level, "1AIS%s_S%s_E", id, id);
        strcat(name, level);
    }
    strcat(name, "Evv");
    char *text = demangle_name(name);
    assert_true(strlen(text) < DEMANGLE_MAX_OUTPUT);
    mem_free(text);
    mem_free(name);
}

TEST(long_real_names_work) {
    char name[4096] = "_Z6kernelI";
    for (u32 i = 0; i < 300; i++) strcat(name, "3ArgIfE");
    strcat(name, "Evv");
    char *text = demangle_short(name);
    assert_memory_equal(text, "kernel<Arg<float>, Arg<float>", 29);
    mem_free(text);
}

TEST(names_in_messages) {
    static const char *const cases[][2] = {
        {"kernel `_Z3badPi`: write in _ZN2ns6kernelIfLi4EEEvPKT_i, at a.cu:14",
         "kernel `bad`: write in ns::kernel<float, 4>, at a.cu:14"},
        {"no names", "no names"},
        {"kernel `__nv_static_11__e7147e2b_x__Z3badPi`: bad", "kernel `bad`: bad"},
        {"", ""},
        {"a_Z3badPi _Zzzz _Z _Z3foov", "a_Z3badPi _Zzzz _Z foo"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char *text = demangle_text(cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        mem_free(text);
    }
    char name[4096] = "_Z6kernelI";
    for (u32 i = 0; i < 300; i++) strcat(name, "3ArgIfE");
    strcat(name, "Evv: and what happened");
    char *text = demangle_text(name);
    assert_int_equal(strlen(text), 160 + strlen(": and what happened"));
    mem_free(text);
}

TEST(memory_may_run_out) {
    for (u64 n = 0; n < 4; n++) {
        u64 left = n;
        testing_memory_out_after(&left);
        char *text = demangle_name("_Z2mmPKfS0_Pfi");
        mem_free(text);
        left = n;
        text = demangle_text("in _Z2mmPKfS0_Pfi here");
        testing_memory_back();
        mem_free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(of_what_is_not_understood_the_name_stays),
        cmocka_unit_test(pathological_names_are_bounded),
        cmocka_unit_test(long_real_names_work),
        cmocka_unit_test(names_in_messages),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
