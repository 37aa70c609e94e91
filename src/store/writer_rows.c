// SPDX-License-Identifier: Apache-2.0
// Rows of numbers are put in many at a time: a statement costs more than its row, and rows that follow each other need
// one search for their place together.
#include <stdio.h>
#include <string.h>

#include "store/writer.h"

enum { ROWS = 128 };

struct WriterRows {
    sqlite3_stmt *many;  // puts in those of StoreWriter.source
    u32 columns, count;
    DbValue values[];  // count * columns; room for ROWS rows
};

static bool is_gathered(StoreStatement statement) {
    switch (statement) {
    case STORE_INSN:
    case STORE_LAUNCH_DONE:
    case STORE_LAUNCH_TIME:
    case STORE_LAUNCH_METRIC:
    case STORE_PC_METRIC:
    case STORE_LATENCY:
    case STORE_STACK_FRAME: return true;
    default: return false;
    }
}

// "INSERT ... VALUES(?,?) ..." with the rows of ROW_SOURCE.
static char *sql_of_many(const char *sql) {
    static const char select[] = "SELECT ", from[] = " FROM " ROW_SOURCE " WHERE true";
    const char *begin = strstr(sql, "VALUES("), *end = strchr(begin, ')'), *value = begin + strlen("VALUES(");
    char *text = mem_alloc(strlen(sql) + ROW_SOURCE_COLUMNS * strlen("c10") + sizeof select + sizeof from);
    if (!text) return NULL;
    char *at = mempcpy(text, sql, (size_t)(begin - sql));
    at = stpcpy(at, select);
    for (u32 column = 0; value < end; value++) {
        if (*value == '?')
            at += sprintf(at, "c%u", column++);
        else
            *at++ = *value;
    }
    stpcpy(stpcpy(at, from), end + 1);
    return text;
}

static Status prepare(StoreWriter *writer, StoreStatement statement, sqlite3_stmt **many) {
    if (!writer->has_source) TRY(row_source_add(writer->db, &writer->source));
    writer->has_source = true;
    char *sql = sql_of_many(writer_sql(statement));
    if (!sql) return STATUS_NO_MEMORY;
    int code = sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT, many, NULL);
    mem_free(sql);
    return db_status(code);
}

static Status make(StoreWriter *writer, StoreStatement statement, u32 columns) {
    WriterRows *rows = mem_alloc(sizeof *rows + sizeof *rows->values * columns * ROWS);
    if (!rows) return STATUS_NO_MEMORY;
    *rows = (WriterRows){.columns = columns};
    Status status = prepare(writer, statement, &rows->many);
    if (status != STATUS_OK) return mem_free(rows), status;
    writer->rows[statement] = rows;
    return STATUS_OK;
}

// One by one: those that the database refuses are malformed records.
static Status run_singly(StoreWriter *writer, StoreStatement statement, const WriterRows *rows, u32 count) {
    for (u32 i = 0; i < count; i++) {
        Status status = writer_run_now(writer, statement, rows->values + i * rows->columns, rows->columns);
        if (status == STATUS_INVALID)
            writer->invalid++;
        else
            TRY(status);
    }
    return STATUS_OK;
}

static Status put_in(StoreWriter *writer, StoreStatement statement) {
    WriterRows *rows = writer->rows[statement];
    u32 count = rows->count;
    rows->count = 0;  // also after a failure
    if (!count) return STATUS_OK;
    writer->source = (RowSource){rows->values, rows->columns, count};
    Status status = db_run(rows->many, NULL, 0);
    writer->source.count = 0;
    return status == STATUS_INVALID ? run_singly(writer, statement, rows, count) : status;
}

Status writer_run(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count) {
    if (writer_is_summed(statement)) return writer_sum(writer, statement, values);
    if (is_gathered(statement)) return writer_gather(writer, statement, values, count);
    return writer_run_now(writer, statement, values, count);
}

Status writer_gather(StoreWriter *writer, StoreStatement statement, const DbValue *values, u32 count) {
    if (!writer->rows[statement]) TRY(make(writer, statement, count));
    WriterRows *rows = writer->rows[statement];
    memcpy(rows->values + rows->count * count, values, sizeof *values * count);
    return ++rows->count < ROWS ? STATUS_OK : put_in(writer, statement);
}

Status writer_put_in_rows(StoreWriter *writer) {
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++)
        if (writer->rows[i]) TRY(put_in(writer, (StoreStatement)i));
    return STATUS_OK;
}

void writer_free_rows(StoreWriter *writer, bool finalize) {
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++) {
        if (writer->rows[i] && finalize) sqlite3_finalize(writer->rows[i]->many);
        mem_free(writer->rows[i]);
        writer->rows[i] = NULL;
    }
}
