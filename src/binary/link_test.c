// SPDX-License-Identifier: Apache-2.0
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "binary/link.h"
#include "ptx/ptx.h"

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static Status link_texts(const char *const *texts, u32 count, LinkText *out, Diag *diag) {
    static const char *const names[] = {"a.ptx", "b.ptx", "c.ptx"};
    PtxObject objects[3];
    for (u32 i = 0; i < count; i++) objects[i] = (PtxObject){{texts[i], strlen(texts[i])}, names[i]};
    return ptx_link(objects, count, out, diag);
}

static u32 occurrences(const char *text, const char *part) {
    u32 count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

static const char *place(const char *text, const char *part) {
    const char *at = strstr(text, part);
    if (!at) fail_msg("'%s' is not in:\n%s", part, text);
    return at;
}

TEST(one_object_is_copied) {
    const char *texts[] = {HEAD ".extern .func f;\n// as it is\n"};
    LinkText out;
    assert_int_equal(link_texts(texts, 1, &out, NULL), STATUS_OK);
    assert_string_equal(out.data, texts[0]);
    assert_int_equal(out.len, strlen(texts[0]));
    vec_free(&out);
}

TEST(declarations_meet_definitions) {
    const char *texts[] = {
        HEAD ".extern .func (.param .b32 r) f (.param .b32 p);\n.extern .const .align 4 .b8 t[16];\n"
             ".visible .global .u64 pointer = f;\n"
             ".visible .entry k() { mov.u64 %rd1, t; call (x), f, (y); ret; }\n",
        ".version 8.3\n.target sm_90a, debug, texmode_independent\n.address_size 64\n"
        ".visible .const .align 4 .b8 t[16] = {1, 2};\n"
        ".visible .func (.param .b32 r) f (.param .b32 p) .noreturn { ret; }\n",
    };
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_OK);
    assert_int_equal(occurrences(out.data, ".version"), 1);
    place(out.data, ".version 8.3\n.target sm_90a, texmode_independent\n.address_size 64\n");
    assert_int_equal(occurrences(out.data, ".extern"), 0);
    assert_int_equal(occurrences(out.data, "t[16]"), 1);
    const char *prototype = place(out.data, ".visible .func (.param .b32 r) f (.param .b32 p) .noreturn;");
    assert_true(prototype < place(out.data, "pointer = f"));
    assert_true(place(out.data, "t[16]") < place(out.data, ".entry k"));
    place(out.data, ".noreturn { ret; }");
    vec_free(&out);
}

TEST(private_names_are_told_apart) {
    const char *texts[] = {
        HEAD
        ".global .u32 n = 1;\n.func h() { ld.global.u32 %r1, [n+4]; ret; }\n.visible .entry a() { call h; ret; }\n",
        HEAD ".global .u32 n = 2;\n.func h();\n.func h() { ld.global.u32 %r1, [n]; n: bra n; }\n"
             ".visible .entry b() { call h; // h\n mov.u64 %h, h; ret; }\n.global .u64 t[2] = {n, h};\n",
        HEAD ".visible .func h() { n.foo; ret; }\n.global .u32 n$2;\n",
    };
    LinkText out;
    assert_int_equal(link_texts(texts, 3, &out, NULL), STATUS_OK);
    place(out.data, ".global .u32 n = 1;");
    place(out.data, ".func h$1() { ld.global.u32 %r1, [n+4]; ret; }");
    place(out.data, ".entry a() { call h$1; ret; }");
    place(out.data, ".global .u32 n$3 = 2;");
    place(out.data, ".func h$2();");
    place(out.data, "[n$3]; n$3: bra n$3; }");
    place(out.data, "call h$2; // h\n mov.u64 %h, h$2; ret; }");
    place(out.data, "t[2] = {n$3, h$2};");
    place(out.data, ".visible .func h() { n.foo; ret; }");
    place(out.data, ".global .u32 n$2;");
    vec_free(&out);
}

TEST(weak_and_common_are_kept_once) {
    const char *texts[] = {
        HEAD ".weak .func w() { trap; }\n.common .global .align 4 .u32 c;\n.weak .global .u32 v = 1;\n"
             ".extern .shared .align 4 .b8 s[];\n",
        HEAD ".weak .func w() { exit; }\n.common .global .align 8 .u32 c;\n.visible .global .u32 v = 2;\n"
             ".extern .shared .align 16 .b8 s[];\n",
        HEAD ".extern .func w();\n.extern .global .u32 c;\n.extern .shared .align 8 .b8 s[];\n",
    };
    LinkText out;
    assert_int_equal(link_texts(texts, 3, &out, NULL), STATUS_OK);
    assert_int_equal(occurrences(out.data, "w() {"), 1);
    place(out.data, ".weak .func w();");
    place(out.data, "{ trap; }");
    place(out.data, ".common .global .align 8 .u32 c;");
    assert_int_equal(occurrences(out.data, " c;"), 1);
    place(out.data, ".visible .global .u32 v = 2;");
    assert_int_equal(occurrences(out.data, " v "), 1);
    place(out.data, ".extern .shared .align 16 .b8 s[];");
    assert_int_equal(occurrences(out.data, "s[]"), 1);
    vec_free(&out);
}

TEST(what_nobody_defines_stays_extern) {
    const char *texts[] = {HEAD ".extern .func vprintf(.param .b64 a);\n",
                           HEAD ".extern .func vprintf(.param .b64 b);\n"};
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_OK);
    assert_int_equal(occurrences(out.data, ".extern .func vprintf"), 1);
    vec_free(&out);
}

TEST(files_and_strings_are_renumbered) {
    const char *texts[] = {
        HEAD ".visible .func a() {\n.loc 1 5 3\n.loc 2 7 1, function_name $L__info_string0, inlined_at 1 5 3\nret; }\n"
             ".file 1 \"a.cu\"\n.file 2 \"common.h\", 12, 34\n"
             ".section .debug_str {\n$L__info_string0:\n.b8 97,0\n}\n",
        HEAD
        ".visible .func b() {\n.loc 1 1 1\n.loc 2 7 1, function_name $L__info_string0+2, inlined_at 2 9 1\nret; }\n"
        ".file 1 \"common.h\", 12, 34\n.file 2 \"b.cu\"\n"
        ".section .debug_str {\n$L__info_string0:\n.b8 98,0\n}\n.section .debug_abbrev { .b8 1 }\n",
    };
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_OK);
    place(out.data, ".loc 2 7 1, function_name $L__info_string0, inlined_at 1 5 3");
    place(out.data, ".loc 2 1 1\n.loc 3 7 1, function_name $L__info_string0$2+2, inlined_at 3 9 1");
    place(out.data, ".file 1 \"a.cu\"\n.file 2 \"common.h\", 12, 34\n.file 3 \"b.cu\"\n");
    assert_int_equal(occurrences(out.data, ".section"), 1);
    place(out.data, "$L__info_string0:");
    place(out.data, "$L__info_string0$2:");
    assert_int_equal(occurrences(out.data, "debug_abbrev"), 0);
    vec_free(&out);
}

TEST(initialisers_come_after_what_they_mention) {
    const char *texts[] = {
        HEAD ".extern .global .u32 end;\n.visible .global .u64 a = generic(b), x[2] = {0, end+4};\n"
             ".visible .global .u64 b = end;\n",
        HEAD ".visible .global .u32 end = 3;\n",
    };
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_OK);
    assert_true(place(out.data, "end = 3") < place(out.data, "b = end"));
    assert_true(place(out.data, "b = end") < place(out.data, "a = generic(b);"));
    place(out.data, ".visible .global .u64 x[2] = {0, end+4};");
    vec_free(&out);
}

TEST(aliases_come_last) {
    const char *texts[] = {HEAD ".visible .func f();\n.func g() { ret; }\n.alias f, g;\n",
                           HEAD ".extern .func f();\n.func g() { trap; }\n.visible .entry k() { call f; ret; }\n"};
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_OK);
    place(out.data, ".visible .func f();");
    place(out.data, ".func g$2() { trap; }");
    assert_true(place(out.data, ".alias f, g;") > place(out.data, "{ ret; }"));
    vec_free(&out);
}

TEST(errors_name_object_and_line) {
    static const struct {
        const char *a, *b, *file;
        u32 line;
        const char *text;
    } cases[] = {
        {".visible .func f() { }", ".visible .func f() { }", "b.ptx", 4, "'f' is defined already in a.ptx, line 4"},
        {".visible .func f() { }", "\n.visible .global .u32 f;", "b.ptx", 5, "declared as something else"},
        {".visible .func f() {", "", "a.ptx", 4, "not closed"},
        {".global .u32 ;", "", "a.ptx", 4, "without a name"},
        {".global .u32 x", "", "a.ptx", 4, "without an end"},
        {"/* open", "", "a.ptx", 4, "declaration was expected"},
        {".func f(", "", "a.ptx", 4, "not closed"},
        {"mov.u32 %r1, 2;", "", "a.ptx", 4, "declaration was expected"},
        {".global .b8 x[2] = {1, 2;", "", "a.ptx", 4, "open initialiser"},
        {"", ".address_size 32", "b.ptx", 1, ".address_size"},
        {".file 1 path", "", "a.ptx", 4, ".file"},
        {".section .debug_str }", "", "a.ptx", 4, ".section"},
        {".alias a b;", "", "a.ptx", 4, ".alias"},
        {"\"open", "", "a.ptx", 4, "declaration was expected"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char a[256], b[256];
        snprintf(a, sizeof a, HEAD "%s", cases[i].a);
        snprintf(b, sizeof b, HEAD "%s", cases[i].b);
        const char *texts[] = {a, b};
        LinkText out;
        Diag diag = {0};
        assert_int_equal(link_texts(texts, 2, &out, &diag), STATUS_INVALID);
        assert_null(out.data);
        assert_true(diag.entries.len >= 1);
        assert_string_equal(diag.entries.data[0].file, cases[i].file);
        assert_int_equal(diag.entries.data[0].line, cases[i].line);
        if (!strstr(diag.entries.data[0].text, cases[i].text)) fail_msg("%s", diag.entries.data[0].text);
        diag_free(&diag);
    }
    const char *texts[] = {".visible .func f() { }", HEAD};
    LinkText out;
    assert_int_equal(link_texts(texts, 2, &out, NULL), STATUS_INVALID);
}

TEST(nvcc_objects_link) {
    FileData a, b;
    LinkText out;
    assert_int_equal(file_read("tests/binary/rdc_a.ptx", &a, NULL), STATUS_OK);
    assert_int_equal(file_read("tests/binary/rdc_b.ptx", &b, NULL), STATUS_OK);
    PtxObject objects[] = {{{(char *)a.data, a.size}, "rdc_a"}, {{(char *)b.data, b.size}, "rdc_b"}};
    assert_int_equal(ptx_link(objects, 2, &out, NULL), STATUS_OK);
    assert_int_equal(occurrences(out.data, ".extern .const"), 0);
    assert_int_equal(occurrences(out.data, ".extern .global"), 0);
    assert_int_equal(occurrences(out.data, ".extern .func"), 1);  // vprintf
    assert_int_equal(occurrences(out.data, "table[16]"), 1);
    place(out.data, ".b8 $str[");
    place(out.data, ".b8 $str$2[");
    assert_int_equal(occurrences(out.data, ".visible .entry"), 2);
    Module *module;
    Diag diag = {0};
    assert_int_equal(ptx_load((Str){out.data, out.len}, "linked", &module, &diag), STATUS_OK);
    assert_int_equal(diag.entries.len, 0);
    module_free(module);
    file_release(&a);
    file_release(&b);
    vec_free(&out);
}

TEST(every_allocation_may_fail) {
    const char *texts[] = {HEAD ".global .u32 n; .func h() { ret; }\n.file 1 \"a\"\n",
                           HEAD ".global .u32 n = 1;.func h();\n"};
    for (u64 n = 0;; n++) {
        u64 left = n;
        LinkText out;
        testing_memory_out_after(&left);
        Status status = link_texts(texts, 2, &out, NULL);
        testing_memory_back();
        vec_free(&out);
        if (status == STATUS_OK) break;
        assert_int_equal(status, STATUS_NO_MEMORY);
    }
}

TEST(headers) {
    PtxHeader header;
    assert_int_equal(ptx_read_header(STR("// c\n.version 9.0\n.target sm_90a, debug\n.address_size 64"), &header),
                     STATUS_OK);
    assert_int_equal(header.isa, 90);
    assert_int_equal(header.sm, 90);
    assert_int_equal(header.variant, 'a');
    assert_int_equal(header.address_size, 64);
    assert_int_equal(ptx_read_header(STR(""), &header), STATUS_INVALID);
    assert_int_equal(ptx_read_header(STR(".version"), &header), STATUS_INVALID);
    assert_int_equal(ptx_read_header(STR(".version 99999999999.1\n.target sm_x"), &header), STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_object_is_copied),
        cmocka_unit_test(declarations_meet_definitions),
        cmocka_unit_test(private_names_are_told_apart),
        cmocka_unit_test(weak_and_common_are_kept_once),
        cmocka_unit_test(what_nobody_defines_stays_extern),
        cmocka_unit_test(files_and_strings_are_renumbered),
        cmocka_unit_test(initialisers_come_after_what_they_mention),
        cmocka_unit_test(aliases_come_last),
        cmocka_unit_test(errors_name_object_and_line),
        cmocka_unit_test(nvcc_objects_link),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
