// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binary/kernel_name.h"
#include "view/number.h"
#include "view/source_text.h"
#include "view/table.h"
#include "view/utf8.h"
#include "view/wrap.h"

static void names_lose_parameters(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"mm(float const*, int)", "mm"},
        {"void ns::reduce<256, float>(float*, float (*)(float))", "ns::reduce<256, float>"},
        {"void foo<(int)4, (char)7>(int*)", "foo<(int)4, (char)7>"},
        {"(anonymous namespace)::k(int)", "(anonymous namespace)::k"},
        {"void run<main::{lambda(int)#1}>(main::{lambda(int)#1})", "run<main::{lambda(int)#1}>"},
        {"int S::operator()(int) const", "S::operator()"},
        {"plain", "plain"},
        {"_Z3foov", "_Z3foov"},
        {"", ""},
        {"(", "("},
        {"void ", "void "},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Str name = kernel_plain_name(cases[i][0]);
        if (name.len != strlen(cases[i][1]) || memcmp(name.data, cases[i][1], name.len) != 0) {
            fail_msg("%s: %.*s", cases[i][0], (int)name.len, name.data);
        }
    }
}

static void numbers_are_short(void **state) {
    (void)state;
    assert_string_equal(number_human(0).text, "0");
    assert_string_equal(number_human(9999).text, "9999");
    assert_string_equal(number_human(10000).text, "10.0 k");
    assert_string_equal(number_human(999949).text, "1.00 M");
    assert_string_equal(number_human(1234567).text, "1.23 M");
    assert_string_equal(number_human(2.5).text, "2.5");
    assert_string_equal(number_human(1e21).text, "1000 E");
    assert_string_equal(number_exact(1234567).text, "1234567");
    assert_string_equal(number_exact(0.125).text, "0.125");
    assert_string_equal(number_exact(NAN).text, "");
    assert_string_equal(number_exact(-INFINITY).text, "");
    assert_string_equal(number_fixed(12.345, 1).text, "12.3");
    assert_string_equal(number_time(999).text, "999 ns");
    assert_string_equal(number_time(1240000000).text, "1.24 s");
    assert_string_equal(number_time(0).text, "0 ns");
    assert_string_equal(number_time(1e300).text, "-");
    assert_string_equal(number_time(NAN).text, "-");
    assert_string_equal(number_time(-INFINITY).text, "-");
    assert_string_equal(number_bytes(1536).text, "1.50 KiB");
    assert_true(strlen(number_exact(-1.7976931348623157e308).text) < sizeof(NumberText));
}

static void bad_utf8_is_replaced(void **state) {
    (void)state;
    Arena arena = {0};
    static const char *const cases[][2] = {
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xff", "\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                  // overlong
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // surrogate
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80"},
        {"a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd"},  // cut off
        {"a\tb\033c\x7f\xc2\x9b", "a b?c??"},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        assert_string_equal(utf8_clean(&arena, (Str){cases[i][0], strlen(cases[i][0])}, true), cases[i][1]);
    }
    assert_int_equal(utf8_width("caf\xc3\xa9"), 4);
    assert_int_equal(utf8_prefix("\xc3\xa9\xc3\xa9x", 2), 4);
    assert_int_equal(utf8_prefix("ab", 9), 2);
    arena_free(&arena);
}

static Status append(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

// Prints the table and gives it back: `dropped` columns did not fit.
static void assert_printed(Table *table, u32 width, u32 dropped, const char *wanted) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = append, .context = stream};
    assert_int_equal(table_print(table, &out, width, false), dropped);
    fclose(stream);
    assert_string_equal(text, wanted);
    free(text);
    table_free(table);
}

static void tables_adapt(void **state) {
    (void)state;
    static const struct {
        u32 width, dropped;
        const char *text;
    } cases[] = {
        {0, 0, "  name              place         n  m\n  a_rather_long_id  dir/file.c:1  7  8\n"},
        {33, 0, "  name         place         n  m\n  a_rather_..  dir/file.c:1  7  8\n"},
        {31, 0, "  name        place        n  m\n  a_rather..  ../file.c:1  7  8\n"},  // the widest gives
        {24, 1, "  name      place      n\n  a_rath..  ..ile.c:1  7\n"},
        {20, 1, "  name      place     n\n  a_rath..  ..le.c:1  7\n"},  // no more can go
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Table table = {0};
        table_column(&table, (TableColumn){.header = "name", .align = TABLE_LEFT, .least = 8});
        table_column(&table, (TableColumn){.header = "place", .align = TABLE_LEFT_TAIL, .least = 8});
        table_column(&table, (TableColumn){.header = "n"});
        table_column(&table, (TableColumn){.header = "m", .importance = 1});
        static const char *const cells[] = {"a_rather_long_id", "dir/file.c:1", "7", "8"};
        for (u32 c = 0; c < 4; c++) table_cell(&table, cells[c]);
        assert_printed(&table, cases[i].width, cases[i].dropped, cases[i].text);
    }
}

static void names_are_cut_by_their_parts(void **state) {
    (void)state;
    Table table = {0};
    table_column(&table, (TableColumn){.header = "kernel", .align = TABLE_LEFT_NAME, .least = 12});
    table_column(&table, (TableColumn){.header = "n"});
    static const char *const cells[] = {"cub::detail::SortKernel<unsigned int, 4>", "1", "mm", "2"};
    for (u32 c = 0; c < WL_COUNT(cells); c++) table_cell(&table, cells[c]);
    assert_printed(&table, 28, 0,
                   "  kernel                   n\n  cub::..::SortKernel<..>  1\n  mm                       2\n");
}

// Copied out of a terminal, and in golden files, blanks at the end of a line are a nuisance.
static void empty_cells_leave_no_blanks(void **state) {
    (void)state;
    static const char *const cells[] = {"1", "wait", "", "", "2", "", "", "x = y;"};
    Table table = {0};
    table_column(&table, (TableColumn){.header = "n"});
    table_column(&table, (TableColumn){.header = "reason", .align = TABLE_LEFT});
    table_column(&table, (TableColumn){.header = "cause", .align = TABLE_LEFT});
    table_column(&table, (TableColumn){.header = "source", .align = TABLE_LEFT});
    for (u32 c = 0; c < WL_COUNT(cells); c++) table_cell(&table, cells[c]);
    assert_printed(&table, 0, 0, "  n  reason  cause  source\n  1  wait\n  2                 x = y;\n");
}

static void last_column_may_wrap(void **state) {
    (void)state;
    Table table = {0};
    table_column(&table, (TableColumn){.header = "n"});
    table_column(&table, (TableColumn){.header = "why", .align = TABLE_LEFT_WRAP, .least = 20});
    static const char *const cells[] = {"1", "its launches are short: make them fewer", "2", "short"};
    for (u32 c = 0; c < WL_COUNT(cells); c++) table_cell(&table, cells[c]);
    assert_printed(&table, 30, 0, "  n  why\n  1  its launches are short:\n     make them fewer\n  2  short\n");
}

static void numbers_keep_their_per_cent(void **state) {
    (void)state;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = append, .context = stream};
    wrap_text(&out, "saves 40 % (12 to 51 %), or 100 %", 2, 22 + 2);
    fclose(stream);
    assert_string_equal(text, "saves 40 % (12 to\n  51 %), or 100 %\n");
    free(text);
}

static void optional_columns_need_something_to_say(void **state) {
    (void)state;
    static const char *const cells[] = {"1", "", "wait", "2", "", ""};
    Table table = {0};
    table_column(&table, (TableColumn){.header = "n"});
    table_column(&table, (TableColumn){.header = "source", .align = TABLE_LEFT, .optional = true});
    table_column(&table, (TableColumn){.header = "reason", .align = TABLE_LEFT, .optional = true});
    for (u32 c = 0; c < WL_COUNT(cells); c++) table_cell(&table, cells[c]);
    assert_printed(&table, 0, 0, "  n  reason\n  1  wait\n  2\n");
}

static void source_lines_are_found(void **state) {
    (void)state;
    SourceTexts sources = {0};
    Str line = source_line(&sources, "/somewhere/else/src/view/view_parts_test.c", 1);
    assert_int_equal(line.len, strlen("// SPDX-License-Identifier: Apache-2.0"));
    assert_memory_equal(line.data, "// SPDX", 7);
    assert_int_equal(source_line(&sources, "src/view/view_parts_test.c", 1000000).len, 0);
    assert_null(sources.changed);
    assert_int_equal(source_line(&sources, "src/view", 1).len, 0);
    assert_int_equal(source_line(&sources, "no/such/file.cu", 1).len, 0);
    assert_string_equal(sources.missing, "src/view");
    assert_null(source_missing(&sources));  // one is there
    assert_int_equal(source_line(&sources, "", 1).len, 0);
    assert_int_equal(source_line(&sources, "-", 0).len, 0);
    source_free(&sources);
}

// Lines are those of the file as it is now: who changed it since the run is told.
static void files_changed_after_the_run_are_told(void **state) {
    (void)state;
    assert_int_equal(source_run_at("1970-01-02T00:00:01Z"), 86401);
    assert_int_equal(source_run_at(""), 0);
    assert_int_equal(source_run_at("yesterday"), 0);
    SourceTexts sources = {.run_at = 86401};
    assert_true(source_line(&sources, "src/view/source_text.c", 1).len > 0);
    assert_string_equal(sources.changed, "src/view/source_text.c");
    source_free(&sources);
    sources = (SourceTexts){.run_at = (i64)1 << 40};
    assert_true(source_line(&sources, "src/view/source_text.c", 1).len > 0);
    assert_null(sources.changed);
    source_free(&sources);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_parameters),
        cmocka_unit_test(empty_cells_leave_no_blanks),
        cmocka_unit_test(names_are_cut_by_their_parts),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(bad_utf8_is_replaced),
        cmocka_unit_test(tables_adapt),
        cmocka_unit_test(source_lines_are_found),
        cmocka_unit_test(files_changed_after_the_run_are_told),
        cmocka_unit_test(last_column_may_wrap),
        cmocka_unit_test(numbers_keep_their_per_cent),
        cmocka_unit_test(optional_columns_need_something_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
