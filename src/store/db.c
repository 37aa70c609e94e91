// SPDX-License-Identifier: Apache-2.0
#include "store/db.h"

#include <string.h>

#include "base/mem.h"
#include "store/store.h"

enum { HEADER_SIZE = 100 };

void store_own_process(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static u32 big_endian(const u8 *bytes, u32 size) {
    u32 value = 0;
    for (u32 i = 0; i < size; i++) value = value << 8 | bytes[i];
    return value;
}

// https://www.sqlite.org/fileformat.html section 1.3
DbHeader db_header(const u8 *bytes, size_t size) {
    DbHeader header = {.kind = size == 0 ? DB_FILE_EMPTY : DB_FILE_FOREIGN};
    if (size < HEADER_SIZE || memcmp(bytes, "SQLite format 3", 16) != 0) return header;
    header.kind = big_endian(bytes + 68, 4) == PROFILE_APPLICATION_ID ? DB_FILE_PROFILE : DB_FILE_OTHER_SQLITE;
    header.schema_version = big_endian(bytes + 60, 4);
    u32 page_size = big_endian(bytes + 16, 2);
    header.bytes_expected = (u64)big_endian(bytes + 28, 4) * (page_size == 1 ? 65536 : page_size);
    return header;
}

Status db_status(int code) {
    if (code == SQLITE_IOERR_SHMSIZE) return STATUS_NO_SPACE;
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return STATUS_OK;
    case SQLITE_NOMEM: return STATUS_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_SCHEMA: return STATUS_FORMAT;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE: return STATUS_INVALID;
    case SQLITE_TOOBIG: return STATUS_LIMIT;
    case SQLITE_INTERRUPT: return STATUS_CANCELLED;
    case SQLITE_FULL: return STATUS_NO_SPACE;
    default: return STATUS_IO;
    }
}

static int bind(sqlite3_stmt *statement, int at, const DbValue *value) {
    switch (value->type) {
    case DB_INTEGER: return sqlite3_bind_int64(statement, at, value->integer);
    case DB_NULL: return sqlite3_bind_null(statement, at);
    case DB_REAL: return sqlite3_bind_double(statement, at, value->real);
    case DB_TEXT:
        return sqlite3_bind_text64(statement, at, value->bytes.data, value->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    default: return sqlite3_bind_blob64(statement, at, value->bytes.data, value->bytes.len, SQLITE_STATIC);
    }
}

Status db_run(sqlite3_stmt *statement, const DbValue *values, u32 count) {
    int code = SQLITE_OK;
    for (u32 i = 0; i < count && code == SQLITE_OK; i++) code = bind(statement, (int)i + 1, &values[i]);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return db_status(code);
}

char *db_path(const char *path, const char *suffix) {
    const char *prefix = path[0] == '/' ? "" : "./";
    size_t len = strlen(prefix) + strlen(path) + strlen(suffix);
    char *full = mem_alloc(len + 1);
    if (full) stpcpy(stpcpy(stpcpy(full, prefix), path), suffix);
    return full;
}
