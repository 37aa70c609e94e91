// SPDX-License-Identifier: Apache-2.0
// Opening a finished profile once more, for what its writer had no time to find out.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file_limit.h"
#include "store/writer.h"

enum { BUSY_MS = 5000 };

// A journal that readers and a writer share; and tables that profiles of older writers lack.
static const char prepare_sql[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE IF NOT EXISTS "
                                  "listing(module INTEGER PRIMARY KEY REFERENCES module, format TEXT NOT NULL, "
                                  "text_size INTEGER NOT NULL, text BLOB NOT NULL); CREATE TABLE IF NOT EXISTS "
                                  "experiment(function INTEGER NOT NULL REFERENCES function, source INTEGER NOT NULL, "
                                  "rule TEXT NOT NULL, edits TEXT NOT NULL, before_ns REAL NOT NULL, after_ns REAL NOT "
                                  "NULL, PRIMARY KEY(function, source, rule, edits)) WITHOUT ROWID";

static Status check(const char *path, Diag *diag) {
    u8 bytes[100];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    if (file >= 0) close(file);
    DbHeader header = size > 0 ? db_header(bytes, (size_t)size) : (DbHeader){.kind = DB_FILE_FOREIGN};
    if (header.kind == DB_FILE_PROFILE && header.schema_version == PROFILE_SCHEMA_VERSION) return STATUS_OK;
    diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot add to this file: not a profile of this version");
    return STATUS_INVALID;
}

static Status open_existing(StoreWriter *writer, const char *path, Diag *diag) {
    char *name = db_path(path, "");
    if (!name) return STATUS_NO_MEMORY;
    Status status = db_status(sqlite3_open_v2(name, &writer->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    mem_free(name);
    if (status == STATUS_OK) sqlite3_busy_timeout(writer->db, BUSY_MS);
    if (status == STATUS_OK) status = db_status(sqlite3_exec(writer->db, prepare_sql, NULL, NULL, NULL));
    if (status != STATUS_OK)
        diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot add to the profile: %s",
                  writer->db ? sqlite3_errmsg(writer->db) : status_text(status));
    return status;
}

Status store_append(const char *path, StoreWriter **writer, Diag *diag) {
    *writer = NULL;
    TRY(check(path, diag));
    StoreWriter *made = mem_zero(1, sizeof *made);
    if (!made) return STATUS_NO_MEMORY;
    made->appends = true;
    FileLimit limit = file_limit_hold();
    Status status = open_existing(made, path, diag);
    if (status != STATUS_OK) sqlite3_close(made->db);
    file_limit_release(&limit);
    if (status != STATUS_OK) {
        mem_free(made);
        return status;
    }
    store_sink(made);
    *writer = made;
    return STATUS_OK;
}
