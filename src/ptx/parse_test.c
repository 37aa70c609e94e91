// SPDX-License-Identifier: Apache-2.0
// Golden diagnostics (tests/ptx/bad), round trips (tests/ptx/good), and what the IR says about small pieces of text.
// WL_UPDATE=1 rewrites the golden files.
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

#include "base/file.h"
#include "ptx/ptx.h"

static const char head[] = ".version 8.7\n.target sm_100a\n.address_size 64\n";

static Module *load(const char *body) {
    char text[40000];
    Diag diag = {0};
    Module *m = NULL;
    int len = snprintf(text, sizeof text, "%s%s", head, body);
    if (ptx_load((Str){text, (size_t)len}, "test", &m, &diag) != STATUS_OK) {
        char line[300] = "no message";
        if (diag.entries.len) diag_format(&diag.entries.data[0], line, sizeof line);
        fail_msg("%s\n%s", line, text);
    }
    diag_free(&diag);
    return m;
}

static Str read_file(const char *path, FileData *file) {
    assert_int_equal(file_read(path, file, NULL), STATUS_OK);
    return (Str){(const char *)file->data, file->size};
}

// ---- diagnostics

static void diagnostics_of(const char *path, TextBuffer *out) {
    FileData file;
    Diag diag = {0};
    Module *m = NULL;
    const char *name = strrchr(path, '/') + 1;
    assert_int_equal(ptx_load(read_file(path, &file), name, &m, &diag), STATUS_INVALID);
    assert_null(m);
    for (u32 i = 0; i < diag.entries.len; i++) {
        char line[400];
        size_t len = diag_format(&diag.entries.data[i], line, sizeof line - 1);
        assert_true(len < sizeof line - 1);
        assert_int_equal(vec_reserve(out, len + 1), STATUS_OK);
        memcpy(out->data + out->len, line, len);
        out->data[out->len + len] = '\n';
        out->len += (u32)len + 1;
    }
    diag_free(&diag);
    file_release(&file);
}

static void compare_golden(const char *path) {
    char golden[300];
    TextBuffer text = {0};
    diagnostics_of(path, &text);
    snprintf(golden, sizeof golden, "%.*s.txt", (int)(strlen(path) - 4), path);
    if (getenv("WL_UPDATE")) {
        FILE *file = fopen(golden, "wb");
        assert_non_null(file);
        fwrite(text.data, 1, text.len, file);
        fclose(file);
    }
    FileData file;
    Str expected = read_file(golden, &file);
    if (expected.len != text.len || memcmp(expected.data, text.data, text.len) != 0) {
        fail_msg("%s: got\n%.*s", path, (int)text.len, text.data);
    }
    file_release(&file);
    vec_free(&text);
}

TEST(problems_are_reported_where_they_are) {
    glob_t found;
    assert_int_equal(glob("tests/ptx/bad/*.ptx", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 30);
    for (size_t i = 0; i < found.gl_pathc; i++) compare_golden(found.gl_pathv[i]);
    globfree(&found);
}

// ---- round trips

static void round_trip(const Module *m, const char *name) {
    TextBuffer text = {0};
    Diag diag = {0};
    Module *again;
    char why[200] = "";
    assert_int_equal(ptx_print(m, &text), STATUS_OK);
    Status status = ptx_load((Str){text.data, text.len}, name, &again, &diag);
    if (status != STATUS_OK) fail_msg("%s: %s\n%.*s", name, diag.entries.data[0].text, (int)text.len, text.data);
    if (!module_equal(m, again, why, sizeof why)) fail_msg("%s: %s\n%.*s", name, why, (int)text.len, text.data);
    module_free(again);
    diag_free(&diag);
    vec_free(&text);
}

TEST(printed_modules_read_back_equal) {
    glob_t found;
    assert_int_equal(glob("tests/ptx/good/*.ptx", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FileData file;
        Module *m;
        assert_int_equal(ptx_load(read_file(found.gl_pathv[i], &file), found.gl_pathv[i], &m, NULL), STATUS_OK);
        round_trip(m, found.gl_pathv[i]);
        assert_true(module_memory(m) > 0);
        module_free(m);
        file_release(&file);
    }
    globfree(&found);
}

TEST(equality_notices_differences) {
    Module *a = load(".entry k() { .reg .b32 %r<3>; mov.u32 %r1, 1; ret; }");
    static const char *const others[] = {
        ".entry k() { .reg .b32 %r<3>; mov.u32 %r1, 2; ret; }",
        ".entry k() { .reg .b32 %r<3>; mov.u32 %r2, 1; ret; }",
        ".entry k() { .reg .b32 %r<4>; mov.u32 %r1, 1; ret; }",
        ".entry j() { .reg .b32 %r<3>; mov.u32 %r1, 1; ret; }",
        ".entry k() { .reg .b32 %r<3>; mov.u32 %r1, 1; exit; }",
        ".entry k() .maxnreg 8 { .reg .b32 %r<3>; mov.u32 %r1, 1; ret; }",
    };
    for (u32 i = 0; i < WL_COUNT(others); i++) {
        Module *b = load(others[i]);
        assert_false(module_equal(a, b, NULL, 0));
        module_free(b);
    }
    assert_true(module_equal(a, a, NULL, 0));
    module_free(a);
}

TEST(braces_around_the_value_of_a_load_or_store_are_left_out) {
    const char *const plain =
        ".global .b32 g; .entry k() { .reg .b32 %r<3>; .reg .pred %p; ld.global.b32 %r1, [g+0];"
        " @%p st.global.b32 [g], %r1; st.global.u32 [g], 7; ld.volatile.global.b32 %r2, [g]; ret; }";
    const char *const braced =
        ".global .b32 g; .entry k() { .reg .b32 %r<3>; .reg .pred %p; ld.global.b32 { %r1 }, [ g + 0 ];"
        " @%p st.global.b32 [g], {%r1}; st.global.u32 [g], {7}; ld.volatile.global.b32 {%r2}, [g]; ret; }";
    Module *a = load(plain), *b = load(braced);
    char why[200] = "";
    if (!module_equal(a, b, why, sizeof why)) fail_msg("%s", why);
    round_trip(b, "braced");
    module_free(a);
    module_free(b);
}

// ---- the IR

TEST(initial_values_are_laid_out) {
    Module *m = load(".global .u16 a[2][3] = {{1, 2}, {0x0304}};\n.global .u64 b[] = {a+4, generic(a), -1};\n"
                     ".global .u8 c[2] = {0xff(a), 0xff00(a)};\n.global .f32 d = 1.5;\n");
    const Var *a = &m->vars[module_find_global(m, STR("a"))];
    static const u8 expected[] = {1, 0, 2, 0, 0, 0, 4, 3};
    assert_int_equal(a->size, 12);
    assert_int_equal(a->init_size, sizeof expected);
    assert_memory_equal(m->init_bytes + a->init, expected, sizeof expected);

    const Var *b = &m->vars[module_find_global(m, STR("b"))];
    assert_int_equal(b->size, 24);
    assert_int_equal(b->reloc_count, 2);
    assert_int_equal(m->relocs[b->reloc].addend, 4);
    assert_true(m->relocs[b->reloc + 1].generic);
    assert_int_equal(m->relocs[b->reloc + 1].offset, 8);

    const Var *c = &m->vars[module_find_global(m, STR("c"))];
    assert_int_equal(m->relocs[c->reloc + 1].shift, 8);
    module_free(m);
}

TEST(labels_belong_to_their_block) {
    Module *m = load(".entry k() {\nA: bra B;\n{ bra A; A: bra B; B: ret; }\nB: bra A;\n}");
    const Function *f = &m->funcs[0];
    assert_int_equal(f->label_count, 4);
    static const u32 targets[] = {4, 2, 3, 0, 0};  // by instruction: where it branches to
    for (u32 i = 0; i < f->insn_count; i++) {
        const Insn *insn = &m->insns[f->insns + i];
        if (insn_form(m, insn)->op != OP_BRA) continue;
        assert_int_equal(m->labels[insn_operand(m, insn, 0)->ref].insn, targets[i]);
    }
    module_free(m);
}

TEST(inner_registers_hide_outer_ones) {
    Module *m = load(".entry k() { .reg .b32 %r<3>; { .reg .b64 %r1; mov.b64 %r1, 0; } mov.b32 %r1, 0; ret; }");
    const Reg *inner = &m->regs[insn_operand(m, &m->insns[0], 0)->ref];
    const Reg *outer = &m->regs[insn_operand(m, &m->insns[1], 0)->ref];
    assert_int_equal(inner->type, TYPE_B64);
    assert_int_equal(inner->number, WL_NONE);
    assert_int_equal(outer->type, TYPE_B32);
    assert_int_equal(outer->number, 1);
    module_free(m);
}

TEST(locs_know_their_call_sites) {
    Module *m = load(".entry k() { .reg .f32 %f;\n.loc 1 3 5\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+1, inlined_at 1 3 5\nneg.f32 %f, %f;\nret; }\n"
                     ".file 1 \"a.cu\"\n.section .debug_str {\n$S:\n.b8 88,102,111,0\n}\n");
    const Loc *inner = &m->locs[m->insns[1].loc];
    assert_int_equal(inner->inlined_at, m->insns[0].loc);
    assert_string_equal(module_text(m, inner->function), "fo");
    assert_string_equal(module_text(m, module_file(m, 1)->path), "a.cu");
    module_free(m);
}

static u32 frames_of(const Module *m, u32 insn) {
    u32 frames = 0;
    for (LocRef ref = m->insns[insn].loc; ref; ref = m->locs[ref].inlined_at) frames++;
    return frames;
}

TEST(a_template_that_calls_itself_is_as_deep_as_it_says) {
    // nvcc 13.0 on `template <int N> int code(int x) { return code<N - 1>(x) + N; }`: each level has a name of its own
    Module *m = load(".entry k() { .reg .f32 %f;\n.loc 1 3 5\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+2, inlined_at 1 3 5\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+4, inlined_at 1 9 2\nneg.f32 %f, %f;\n"
                     ".loc 1 9 7, function_name $S+4, inlined_at 1 9 2\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+6, inlined_at 1 9 2\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+6, inlined_at 1 9 2\nneg.f32 %f, %f;\n"
                     ".loc 1 9 2, function_name $S+4, inlined_at 1 9 2\nneg.f32 %f, %f;\nret; }\n"
                     ".file 1 \"a.cu\"\n.section .debug_str {\n$S:\n.b8 97,0,98,0,99,0,100,0\n}\n");
    static const u32 frames[] = {1, 2, 3, 3, 4, 4, 3};
    for (u32 i = 0; i < WL_COUNT(frames); i++) assert_int_equal(frames_of(m, i), frames[i]);
    module_free(m);
}

TEST(calls_inlined_deeper_than_the_limit_leave_some_out) {
    char text[30000];
    int len = snprintf(text, sizeof text, ".entry k() { .reg .f32 %%f;\n.loc 1 1 1\nneg.f32 %%f, %%f;\n");
    for (u32 i = 2; i < 400; i++)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        ".loc 1 %u 1, function_name $S+%u, inlined_at 1 %u 1\nneg.f32 %%f, %%f;\n", i, i, i - 1);
    snprintf(text + len, sizeof text - (size_t)len,
             "ret; }\n.file 1 \"a.cu\"\n.section .debug_str {\n$S:\n.b8 97,0\n}\n");
    Module *m = load(text);
    assert_int_equal(frames_of(m, 255), 256);
    assert_int_equal(frames_of(m, 397), 257);
    assert_int_equal(m->locs[m->insns[397].loc].line, 398);
    module_free(m);
}

TEST(constant_expressions_are_folded) {
    static const struct {
        const char *text;
        i64 value;
    } cases[] = {
        {"1+2*3", 7},         {"(1+2)*3", 9},    {"-8/3", -2},      {"-8%3", -2},
        {"1<<4|1", 17},       {"~0", -1},        {"!5", 0},         {"3>2?10:20", 10},
        {"0x10", 16},         {"017", 15},       {"0b101", 5},      {"10U", 10},
        {"(.u64)-1>>60", 15}, {"5==5&&1!=1", 0}, {"WARP_SZ*2", 64}, {"6^3", 5},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char body[200];
        snprintf(body, sizeof body, ".entry k() { .reg .b64 %%r; mov.b64 %%r, %s; ret; }", cases[i].text);
        Module *m = load(body);
        const Operand *value = insn_operand(m, &m->insns[0], 1);
        assert_int_equal(value->kind, OPERAND_INT);
        if ((i64)value->value != cases[i].value) fail_msg("%s: %lld", cases[i].text, (long long)value->value);
        module_free(m);
    }
}

TEST(a_definition_wins_over_a_declaration) {
    Module *m = load(".func f();\n.entry k() { call f; call g; ret; }\n.func f() { ret; }\n.func g() { ret; }\n");
    FuncRef f = module_find_function(m, STR("f"));
    assert_true(m->funcs[f].has_body);
    assert_int_equal(insn_operand(m, &m->insns[0], 0)->ref, f);
    assert_int_equal(insn_operand(m, &m->insns[1], 0)->ref, module_find_function(m, STR("g")));
    assert_int_equal(module_find_function(m, STR("nothing")), WL_NONE);
    module_free(m);
}

TEST(one_instruction_prints_alone) {
    Module *m = load(".entry k() { .reg .b32 %r<3>; .reg .pred %p; @!%p add.s32 %r1, %r2, -5; ret; }");
    TextBuffer text = {0};
    assert_int_equal(ptx_print_insn(m, &m->funcs[0], &m->insns[0], &text), STATUS_OK);
    assert_int_equal(text.len, strlen("@!%p add.s32 %r1, %r2, -5;"));
    assert_memory_equal(text.data, "@!%p add.s32 %r1, %r2, -5;", text.len);
    vec_free(&text);
    module_free(m);
}

// ---- hostile input

static void parse_any(const char *text, size_t len) {
    Diag diag = {0};
    Module *m = NULL;
    Status status = ptx_parse((Str){text, len}, "hostile", &m, &diag);
    assert_true(status == STATUS_OK || diag.errors > 0);
    module_free(m);
    diag_free(&diag);
}

TEST(every_truncation_is_survived) {
    FileData file;
    Str text = read_file("tests/ptx/good/memory.ptx", &file);
    for (size_t len = 0; len < text.len; len++) parse_any(text.data, len);
    file_release(&file);
}

TEST(long_lines_and_deep_nesting_are_survived) {
    static const char *const pieces[] = {"(",  "{",  "[",  "-", "a", "1", "%r|", "@", ".x", "{.reg .b32 %r<9999>;",
                                         "A:", "\"", "/*", ";"};
    enum { SIZE = 1 << 20 };
    char *text = mem_alloc(SIZE);
    assert_non_null(text);
    for (u32 i = 0; i < WL_COUNT(pieces); i++) {
        size_t len = (size_t)snprintf(text, SIZE, "%s.entry k() { mov.u32 x, ", head), piece = strlen(pieces[i]);
        for (; len + piece < SIZE; len += piece) memcpy(text + len, pieces[i], piece);
        parse_any(text, len);
    }
    mem_free(text);
}

TEST(memory_may_run_out_anywhere) {
    FileData file;
    Str text = read_file("tests/ptx/good/calls.ptx", &file);
    for (u64 count = 0;; count++) {
        u64 left = count;
        Module *m = NULL;
        testing_memory_out_after(&left);
        Status status = ptx_parse(text, "test", &m, NULL);
        testing_memory_back();
        module_free(m);
        if (status == STATUS_OK) break;
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_true(count < 5000);
    }
    file_release(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_reported_where_they_are),
        cmocka_unit_test(printed_modules_read_back_equal),
        cmocka_unit_test(equality_notices_differences),
        cmocka_unit_test(braces_around_the_value_of_a_load_or_store_are_left_out),
        cmocka_unit_test(initial_values_are_laid_out),
        cmocka_unit_test(labels_belong_to_their_block),
        cmocka_unit_test(inner_registers_hide_outer_ones),
        cmocka_unit_test(locs_know_their_call_sites),
        cmocka_unit_test(a_template_that_calls_itself_is_as_deep_as_it_says),
        cmocka_unit_test(calls_inlined_deeper_than_the_limit_leave_some_out),
        cmocka_unit_test(constant_expressions_are_folded),
        cmocka_unit_test(a_definition_wins_over_a_declaration),
        cmocka_unit_test(one_instruction_prints_alone),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(long_lines_and_deep_nesting_are_survived),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
