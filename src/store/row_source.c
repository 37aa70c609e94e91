// SPDX-License-Identifier: Apache-2.0
// A virtual table (https://www.sqlite.org/vtab.html). A row of a statement with VALUES takes 550 instructions more, as
// each value is bound and copied, and a statement of many rows takes 200,000 to be read.
#include "store/row_source.h"

#include <stdio.h>

#include "base/mem.h"

typedef struct Table {
    sqlite3_vtab base;  // first: SQLite has only this
    const RowSource *source;
} Table;

typedef struct Cursor {
    sqlite3_vtab_cursor base;  // ... this
    u32 row;
} Cursor;

static const RowSource *source_of(const sqlite3_vtab_cursor *cursor) { return ((const Table *)cursor->pVtab)->source; }

static int connect_table(sqlite3 *db, void *source, int count, const char *const *arguments, sqlite3_vtab **made,
                         char **error) {
    (void)count, (void)arguments, (void)error;
    char sql[32 + ROW_SOURCE_COLUMNS * 5];
    int length = sprintf(sql, "CREATE TABLE x(c0");
    for (u32 i = 1; i < ROW_SOURCE_COLUMNS; i++) length += sprintf(sql + length, ",c%u", i);
    sprintf(sql + length, ")");
    int code = sqlite3_declare_vtab(db, sql);
    if (code != SQLITE_OK) return code;
    Table *table = mem_zero(1, sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->source = source;
    *made = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
    mem_free(table);
    return SQLITE_OK;
}

static int choose_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table, (void)info;  // always all rows
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **made) {
    (void)table;
    Cursor *cursor = mem_zero(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    mem_free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int count, sqlite3_value **arguments) {
    (void)index, (void)name, (void)count, (void)arguments;
    ((Cursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor) {
    ((Cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor) { return ((Cursor *)cursor)->row >= source_of(cursor)->count; }

static int take_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const RowSource *source = source_of(cursor);
    if ((u32)column >= source->columns) return SQLITE_OK;  // NULL
    const DbValue *value = &source->values[((Cursor *)cursor)->row * source->columns + (u32)column];
    switch (value->type) {
    case DB_INTEGER: sqlite3_result_int64(to, value->integer); break;
    case DB_REAL: sqlite3_result_double(to, value->real); break;
    case DB_NULL: break;
    case DB_TEXT: sqlite3_result_text64(to, value->bytes.data, value->bytes.len, SQLITE_TRANSIENT, SQLITE_UTF8); break;
    case DB_BLOB: sqlite3_result_blob64(to, value->bytes.data, value->bytes.len, SQLITE_TRANSIENT); break;
    }
    return SQLITE_OK;
}

static int take_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = ((Cursor *)cursor)->row;
    return SQLITE_OK;
}

Status row_source_add(sqlite3 *db, const RowSource *source) {
    static const sqlite3_module module = {.xConnect = connect_table,
                                          .xBestIndex = choose_index,
                                          .xDisconnect = disconnect,
                                          .xOpen = open_cursor,
                                          .xClose = close_cursor,
                                          .xFilter = filter,
                                          .xNext = next,
                                          .xEof = is_at_end,
                                          .xColumn = take_column,
                                          .xRowid = take_rowid};
    return db_status(sqlite3_create_module(db, ROW_SOURCE, &module, (void *)source));
}
