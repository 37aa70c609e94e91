// SPDX-License-Identifier: Apache-2.0
// The little of SQLite that writer and reader share: error mapping, typed binding, paths. Internal to store.
#ifndef WL_STORE_DB_H
#define WL_STORE_DB_H

#include <sqlite3.h>

#include "base/diag.h"

#define PROFILE_APPLICATION_ID 0x574C5046u  // "WLPF", as in schema.sql

// What the first 100 bytes of a file say.
typedef enum DbFileKind { DB_FILE_EMPTY, DB_FILE_PROFILE, DB_FILE_OTHER_SQLITE, DB_FILE_FOREIGN } DbFileKind;
typedef struct DbHeader {
    DbFileKind kind;
    u32 schema_version;  // of a profile
    u64 bytes_expected;  // pages times page size
} DbHeader;
DbHeader db_header(const u8 *bytes, size_t size);

typedef enum DbType { DB_INTEGER, DB_REAL, DB_TEXT, DB_BLOB, DB_NULL } DbType;
typedef struct DbValue {
    DbType type;
    i64 integer;
    f64 real;
    Str bytes;
} DbValue;

static inline DbValue db_int(u64 value) { return (DbValue){.type = DB_INTEGER, .integer = (i64)value}; }
static inline DbValue db_real(f64 value) { return (DbValue){.type = DB_REAL, .real = value}; }
static inline DbValue db_null(void) { return (DbValue){.type = DB_NULL}; }
static inline DbValue db_text(Str text) { return (DbValue){.type = DB_TEXT, .bytes = text}; }
static inline DbValue db_blob(const void *data, size_t size) {
    return (DbValue){.type = DB_BLOB, .bytes = {data, size}};
}

Status db_status(int code);  // of an SQLite result code

// Binds, runs to the end and resets a statement that returns no rows. Texts are borrowed during the call.
WL_MUST_USE Status db_run(sqlite3_stmt *statement, const DbValue *values, u32 count);
#define DB_RUN(statement, ...) \
    db_run((statement), (const DbValue[]){__VA_ARGS__}, (u32)WL_COUNT(((const DbValue[]){__VA_ARGS__})))

// The path as SQLite must be given it: never taken for a URI or for ":memory:". Heap string, NULL when memory is out.
char *db_path(const char *path, const char *suffix);

#endif
