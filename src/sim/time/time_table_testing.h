// SPDX-License-Identifier: Apache-2.0
// Tables of PTX beside what ptxas and time_code_build make of it: tests/time/idioms.tsv, loops.tsv. Lines that begin
// with # are kept as they are; columns are separated by tabs: a name, ptxas' number, ours, the PTX; others behind them.
#ifndef WL_SIM_TIME_TIME_TABLE_TESTING_H
#define WL_SIM_TIME_TIME_TABLE_TESTING_H

#include <stdlib.h>

#include "base/golden_testing.h"
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

enum { TABLE_ROWS = 1024, TABLE_COMMENTS = 16 };
enum { COLUMN_NAME, COLUMN_PTXAS, COLUMN_OURS, COLUMN_PTX, COLUMN_FRAME, TABLE_COLUMNS };

typedef struct TestRow {
    char *column[TABLE_COLUMNS];  // NULL behind the last
} TestRow;

typedef struct TestTable {
    char *text;  // the file's, taken apart
    char *comments[TABLE_COMMENTS];
    u32 comment_count;
    TestRow rows[TABLE_ROWS];
    u32 row_count;
} TestTable;

// The code of the one kernel of a module for sm_90.
typedef struct TestCode {
    TestDevice device;
    SimProgram *program;
    TimeCode *code;
} TestCode;

static inline void test_code_build(TestCode *c, const char *kernel) {
    size_t room = strlen(kernel) + 64;
    char *text = malloc(room);
    snprintf(text, room, ".version 8.0\n.target sm_90\n.address_size 64\n%s", kernel);
    device_open(&c->device, text);
    assert_int_equal(program_build(c->device.module, 0, &c->program, &c->device.diag), STATUS_OK);
    assert_int_equal(time_code_build(c->program, &c->device.gpu, (SimMachineCode){0}, &c->code), STATUS_OK);
    free(text);
}

static inline void test_code_drop(TestCode *c) {
    time_code_free(c->code);
    program_free(c->program);
    device_close(&c->device);
}

// Takes a line apart in place.
static inline TestRow table_split(char *line) {
    TestRow row = {0};
    for (u32 k = 0; k < TABLE_COLUMNS && line; k++) row.column[k] = strsep(&line, "\t");
    return row;
}

static inline void table_read(TestTable *t, const char *path) {
    FileData file;
    Diag diag = {0};
    memset(t, 0, sizeof *t);
    assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
    t->text = strndup((const char *)file.data, file.size);
    file_release(&file);
    char *rest = t->text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        assert_true(t->comment_count < TABLE_COMMENTS && t->row_count < TABLE_ROWS);
        if (line[0] == '#')
            t->comments[t->comment_count++] = line;
        else if (line[0])
            t->rows[t->row_count++] = table_split(line);
    }
    assert_true(t->row_count);
}

static inline void table_write(const TestTable *t, const char *path, const i32 *ours) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (u32 i = 0; i < t->comment_count; i++) fprintf(out, "%s\n", t->comments[i]);
    for (u32 i = 0; i < t->row_count; i++) {
        char *const *column = t->rows[i].column;
        fprintf(out, "%s\t%s\t%d\t%s", column[COLUMN_NAME], column[COLUMN_PTXAS], ours[i], column[COLUMN_PTX]);
        fprintf(out, column[COLUMN_FRAME] ? "\t%s\n" : "\n", column[COLUMN_FRAME]);
    }
    assert_int_equal(fclose(out), 0);
}

// Holds the number found for each row against the table's, or writes the table anew (--update).
static inline void table_check(const TestTable *t, const char *path, const i32 *ours) {
    u32 wrong = 0;
    for (u32 i = 0; i < t->row_count; i++) {
        char *const *column = t->rows[i].column;
        if (ours[i] == atoi(column[COLUMN_OURS])) continue;
        print_message("%s: %d here, the table says %s, ptxas makes %s\n", column[COLUMN_NAME], ours[i],
                      column[COLUMN_OURS], column[COLUMN_PTXAS]);
        wrong++;
    }
    if (golden_update)
        table_write(t, path, ours);
    else
        assert_int_equal(wrong, 0);
}

#endif
