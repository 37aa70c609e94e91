// SPDX-License-Identifier: Apache-2.0
// Making a new profile file: is the place free, can it be written, may what is there be replaced; then the schema.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file_limit.h"
#include "store/writer.h"

#ifndef WARPLENS_VERSION
#define WARPLENS_VERSION "unknown"
#endif

enum { BUSY_MS = 5000 };  // how long another writer's lock (a person with sqlite3) is waited for

static const char schema_sql[] = {
#include "embed/store/schema.sql.inc"
};

static const char *const companions[] = {"-wal", "-shm", "-journal"};

static Status tell(Diag *diag, const char *path, Status status, const char *text) {
    diag_text(diag, DIAG_ERROR, path, 0, 0, "%s", text);
    return status;
}

// What a previous profile of this name may have left beside it must never be taken for ours.
static Status remove_companions(const char *path) {
    for (u32 i = 0; i < WL_COUNT(companions); i++) {
        char *companion = db_path(path, companions[i]);
        if (!companion) return STATUS_NO_MEMORY;
        unlink(companion);
        mem_free(companion);
    }
    return STATUS_OK;
}

static bool is_replaceable(const char *path) {
    u8 bytes[100];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    if (size < 0) return false;
    DbFileKind kind = db_header(bytes, (size_t)size).kind;
    return kind == DB_FILE_EMPTY || kind == DB_FILE_PROFILE;
}

// Clears the way when there is a file and it may go.
static Status remove_old(const char *path, bool overwrite, Diag *diag) {
    struct stat info;
    if (stat(path, &info) != 0) return STATUS_OK;  // open() will say why, if it matters
    if (S_ISDIR(info.st_mode)) return tell(diag, path, STATUS_INVALID, "cannot write the profile: this is a directory");
    if (!S_ISREG(info.st_mode)) return tell(diag, path, STATUS_INVALID, "cannot write the profile: not a regular file");
    if (!overwrite) return tell(diag, path, STATUS_EXISTS, "file exists; choose another name, or overwrite it with -f");
    if (!is_replaceable(path)) {
        return tell(diag, path, STATUS_EXISTS, "file exists and is not a Warplens profile: it is not overwritten");
    }
    if (unlink(path) == 0) return STATUS_OK;
    diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot replace the old profile: %s", strerror(errno));
    return STATUS_IO;
}

// O_EXCL: of two writers that start at once on one name, one gets it.
static Status claim(const char *path, Diag *diag) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        int error = errno;
        diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot create the profile: %s", strerror(error));
        return error == EEXIST ? STATUS_EXISTS : error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
    }
    close(file);
    return STATUS_OK;
}

static Status write_catalogue(StoreWriter *writer) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        const MetricInfo *info = &metric_table[i];
        if (info->formula) continue;
        TRY(WRITER_RUN(writer, STORE_METRIC, db_int(i + 1u), db_text((Str){info->name, strlen(info->name)}),
                       db_text((Str){info->unit, strlen(info->unit)}), db_text((Str){info->text, strlen(info->text)})));
    }
    return STATUS_OK;
}

static Status write_birth(StoreWriter *writer) {
    char created[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    TRY(writer_meta(writer, "created", created));
    TRY(writer_meta(writer, "warplens_version", WARPLENS_VERSION));
    TRY(writer_meta(writer, "wall_ns", "0"));
    return writer_meta(writer, "complete", "0");
}

static Status execute(StoreWriter *writer, const char *sql) {
    return db_status(sqlite3_exec(writer->db, sql, NULL, NULL, NULL));
}

// The schema goes into the main file before WAL is switched on, so that the file is recognisable by itself from then
// on. Nothing is ever synchronised with the disk: what a process wrote outlives it anyway, and waiting for the disk at
// the end would cost a program 50 ms and more. Only a crash of the whole machine could damage a profile.
static Status write_schema(StoreWriter *writer) {
    // Small pages: a profile has many small tables, and blobs that leave their last page half empty.
    TRY(execute(writer, "PRAGMA page_size=1024; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN"));
    TRY(execute(writer, schema_sql));
    TRY(write_catalogue(writer));
    TRY(write_birth(writer));
    return execute(writer, "COMMIT; PRAGMA journal_mode=WAL; PRAGMA cache_size=-8000;"
                           "PRAGMA temp_store=MEMORY");
}

static Status open_database(StoreWriter *writer, const char *path, Diag *diag) {
    char *name = db_path(path, "");
    if (!name || remove_companions(path) != STATUS_OK) {
        mem_free(name);
        return tell(diag, path, STATUS_NO_MEMORY, "out of memory");
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    Status status = db_status(sqlite3_open_v2(name, &writer->db, flags, NULL));
    mem_free(name);
    if (status == STATUS_OK) {
        sqlite3_busy_timeout(writer->db, BUSY_MS);
        status = write_schema(writer);
    }
    if (status != STATUS_OK) {
        const char *reason = writer->db ? sqlite3_errmsg(writer->db) : status_text(status);
        diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot write the profile: %s", reason);
    }
    return status;
}

// Takes back what a failed creation made.
static void undo(StoreWriter *writer, const char *path) {
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++) sqlite3_finalize(writer->statements[i]);
    sqlite3_close(writer->db);
    unlink(path);
    Status ignored = remove_companions(path);
    (void)ignored;
    mem_free(writer);
}

Status store_create(const char *path, bool overwrite, StoreWriter **writer, Diag *diag) {
    *writer = NULL;
    if (!path[0]) return tell(diag, NULL, STATUS_INVALID, "the profile needs a file name");
    StoreWriter *made = mem_zero(1, sizeof *made);
    if (!made) return tell(diag, path, STATUS_NO_MEMORY, "out of memory");
    Status status = remove_old(path, overwrite, diag);
    if (status == STATUS_OK) status = claim(path, diag);
    if (status != STATUS_OK) {
        mem_free(made);
        return status;
    }
    FileLimit limit = file_limit_hold();
    status = open_database(made, path, diag);
    if (status != STATUS_OK) undo(made, path);
    file_limit_release(&limit);
    if (status != STATUS_OK) return status;
    store_sink(made);
    *writer = made;
    return STATUS_OK;
}

Status store_remove(const char *path, Diag *diag) {
    TRY(remove_old(path, true, diag));
    return remove_companions(path);
}
