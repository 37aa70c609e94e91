// SPDX-License-Identifier: Apache-2.0
// Run by the build: make_image SCHEMA OUT writes the bytes of an empty profile, for an array's initialiser: the tables
// of SCHEMA (schema.sql), the catalogue of metrics, what `meta` says first. So SQLite need not make all that anew for
// every profile.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "metric/metric.h"

#ifndef WARPLENS_VERSION
#define WARPLENS_VERSION "unknown"
#endif

enum { LINE = 32 };  // bytes

static void stop(const char *what, const char *why) {
    fprintf(stderr, "make_image: %s: %s\n", what, why);
    exit(1);
}

// With a NUL behind it; NULL: it cannot be read.
static char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = mem_zero(*size + 1, 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) return NULL;
    fclose(file);
    return bytes;
}

static void execute(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) stop(sql, sqlite3_errmsg(db));
}

static void insert_metric(sqlite3 *db, u32 id, const MetricInfo *info) {
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(db, "INSERT INTO metric VALUES(?,?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        stop("metric", sqlite3_errmsg(db));
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_text(insert, 2, info->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, info->unit, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, info->text, -1, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) stop(info->name, sqlite3_errmsg(db));
    sqlite3_finalize(insert);
}

static void make_database(const char *path, const char *schema) {
    sqlite3 *db;
    unlink(path);
    if (sqlite3_open(path, &db) != SQLITE_OK) stop(path, sqlite3_errmsg(db));
    // Small pages: a profile has many small tables, and blobs that leave their last page half empty.
    execute(db, "PRAGMA page_size=1024; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN");
    execute(db, schema);
    for (u32 i = 0; i < METRIC_COUNT; i++)
        if (!metric_table[i].formula) insert_metric(db, i + 1, &metric_table[i]);
    execute(db, "INSERT INTO meta VALUES('warplens_version','" WARPLENS_VERSION "'),('wall_ns','0'),('complete','0')");
    execute(db, "COMMIT; PRAGMA journal_mode=WAL");
    if (sqlite3_close(db) != SQLITE_OK) stop(path, "not closed");
}

static void write_bytes(const char *path, const u8 *bytes, size_t size) {
    FILE *out = fopen(path, "w");
    if (!out) stop(path, "cannot be written");
    for (size_t i = 0; i < size; i++) fprintf(out, "%d,%s", bytes[i], i % LINE == LINE - 1 ? "\n" : "");
    fputs("0\n", out);
    if (fclose(out) != 0) stop(path, "cannot be written");
}

int main(int count, char **arguments) {
    if (count != 3) stop("usage", "make_image SCHEMA OUT");
    size_t size;
    char *schema = read_whole(arguments[1], &size), *database = mem_alloc(strlen(arguments[2]) + sizeof ".db");
    if (!schema || !database) stop(arguments[1], "cannot be read");
    stpcpy(stpcpy(database, arguments[2]), ".db");
    make_database(database, schema);
    char *bytes = read_whole(database, &size);
    unlink(database);
    if (!bytes) stop(database, "cannot be read");
    write_bytes(arguments[2], (const u8 *)bytes, size);
    mem_free(schema);
    mem_free(database);
    mem_free(bytes);
    return 0;
}
