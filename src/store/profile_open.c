// SPDX-License-Identifier: Apache-2.0
// Opening a profile that may be anything: complete, still being written, left behind by a killed writer, on a read-only
// disk, truncated, or not a profile at all.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/profile.h"

enum { BUSY_MS = 5000 };

static Status tell(Diag *diag, const char *path, Status status, const char *text) {
    diag_text(diag, DIAG_ERROR, path, 0, 0, "%s", text);
    return status;
}

static Status read_header(const char *path, DbHeader *header, u64 *size, Diag *diag) {
    struct stat info;
    u8 bytes[100];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // not blocking: a FIFO must not hold us
    if (file < 0 || fstat(file, &info) != 0) {
        int error = errno;
        if (file >= 0) close(file);
        diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot open the profile: %s", strerror(error));
        return error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
    }
    ssize_t got = S_ISREG(info.st_mode) ? read(file, bytes, sizeof bytes) : 0;
    int error = errno;
    close(file);
    if (S_ISDIR(info.st_mode)) return tell(diag, path, STATUS_FORMAT, "this is a directory, not a Warplens profile");
    if (!S_ISREG(info.st_mode)) return tell(diag, path, STATUS_FORMAT, "not a regular file");
    if (got < 0) return tell(diag, path, STATUS_IO, strerror(error));
    *header = db_header(bytes, (size_t)got);
    *size = (u64)info.st_size;
    return STATUS_OK;
}

static Status has_wal(const char *path, bool *has) {
    struct stat info;
    char *wal = db_path(path, "-wal");
    if (!wal) return STATUS_NO_MEMORY;
    *has = stat(wal, &info) == 0 && info.st_size > 0;
    mem_free(wal);
    return STATUS_OK;
}

// Everything that can be told from the first bytes.
static Status check_header(const char *path, const DbHeader *header, u64 size, bool wal, Diag *diag) {
    switch (header->kind) {
    case DB_FILE_EMPTY: return tell(diag, path, STATUS_FORMAT, "the file is empty: not a Warplens profile");
    case DB_FILE_FOREIGN: return tell(diag, path, STATUS_FORMAT, "not a Warplens profile");
    case DB_FILE_OTHER_SQLITE: return tell(diag, path, STATUS_FORMAT, "an SQLite database, but not a Warplens profile");
    case DB_FILE_PROFILE: break;
    }
    if (header->schema_version > PROFILE_SCHEMA_VERSION) {
        diag_text(diag, DIAG_ERROR, path, 0, 0,
                  "written by a newer Warplens (schema version %u; this one reads up to %d): update Warplens",
                  header->schema_version, PROFILE_SCHEMA_VERSION);
        return STATUS_VERSION;
    }
    if (header->schema_version == 0) return tell(diag, path, STATUS_FORMAT, "damaged profile: no schema version");
    if (!wal && size < header->bytes_expected) {
        diag_text(diag, DIAG_ERROR, path, 0, 0, "damaged profile: cut off, %llu of %llu bytes are there",
                  (unsigned long long)size, (unsigned long long)header->bytes_expected);
        return STATUS_FORMAT;
    }
    return STATUS_OK;
}

// "file:" and the path with what a URI gives meaning to escaped, then the parameters.
static char *uri_of(const char *path, const char *parameters) {
    char *uri = mem_alloc(strlen(path) * 3 + strlen(parameters) + 16);
    if (!uri) return NULL;
    char *out = stpcpy(uri, path[0] == '/' ? "file:" : "file:./");
    for (const char *in = path; *in; in++) {
        bool plain = *in != '%' && *in != '?' && *in != '#';
        out += plain ? (*out = *in, 1) : sprintf(out, "%%%02X", (unsigned char)*in);
    }
    strcpy(out, parameters);
    return uri;
}

// Opens and takes a read snapshot; returns SQLite's code.
static int try_open(Profile *profile, const char *path, const char *parameters, const char *pragmas) {
    static const char snapshot[] =
        "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1";
    char *uri = uri_of(path, parameters);
    if (!uri) return SQLITE_NOMEM;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    int code = sqlite3_open_v2(uri, &profile->db, flags, NULL);
    mem_free(uri);
    if (code != SQLITE_OK) return code;
    sqlite3_busy_timeout(profile->db, BUSY_MS);
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    code = sqlite3_exec(profile->db, pragmas, NULL, NULL, NULL);
    return code == SQLITE_OK ? sqlite3_exec(profile->db, snapshot, NULL, NULL, NULL) : code;
}

// SQLite needs a -shm file beside a WAL database. Where none can be made: with nothing in the WAL the main file is all
// there is; otherwise the WAL's index is kept in memory, which SQLite does for a connection that is alone (and with no
// locks taken, since those need a writable file).
static int open_database(Profile *profile, const char *path, bool wal) {
    int code = try_open(profile, path, "", "");
    int kind = code & 0xff;
    if (kind != SQLITE_CANTOPEN && kind != SQLITE_READONLY && kind != SQLITE_PERM && kind != SQLITE_IOERR) return code;
    sqlite3_close(profile->db);
    profile->db = NULL;
    if (!wal) return try_open(profile, path, "?immutable=1", "");
    return try_open(profile, path, "?vfs=unix-none", "PRAGMA locking_mode=EXCLUSIVE");
}

static Status check_tables(Profile *profile, Diag *diag) {
    static const char sql[] = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'source', "
                              "'metric', 'module', 'function', 'file', 'insn', 'launch', 'launch_metric', 'pc_metric', "
                              "'copy', 'message', 'dropped') AND sql NOT LIKE '%virtual%'";
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(profile->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 13;
    sqlite3_finalize(statement);
    return good ? STATUS_OK : tell(diag, profile->path, STATUS_FORMAT, "damaged profile: tables are missing");
}

static Status load_metrics(Profile *profile, Diag *diag) {
    Status status = metric_compile(&profile->program);
    Query query = query_begin(profile, PROFILE_METRICS, 0, 0);
    while (status == STATUS_OK && query_row(&query)) {
        const char *name = (const char *)sqlite3_column_text(query.statement, 1);
        MetricId metric = name ? metric_find(name) : METRIC_COUNT;
        bool counter = metric != METRIC_COUNT && !metric_table[metric].formula;
        if (counter) status = map_put(&profile->metrics, query_u64(&query, 0), metric);
    }
    Status ended = query_end(&query, diag);
    return status == STATUS_OK ? ended : profile_tell(profile, diag, status);
}

static Status open_checked(Profile *profile, const char *path, Diag *diag) {
    DbHeader header = {0};
    u64 size = 0;
    bool wal;
    TRY(has_wal(path, &wal));  // before the file itself: a writer that closes now folds one into the other
    TRY(read_header(path, &header, &size, diag));
    TRY(check_header(path, &header, size, wal, diag));
    profile->schema_version = header.schema_version;
    profile->path = arena_copy_str(&profile->arena, (Str){path, strlen(path)});
    if (!profile->path) return STATUS_NO_MEMORY;
    int code = open_database(profile, path, wal);
    if (code != SQLITE_OK) return profile_tell(profile, diag, db_status(code));
    TRY(check_tables(profile, diag));
    return load_metrics(profile, diag);
}

Status profile_open(const char *path, Profile **profile, Diag *diag) {
    *profile = NULL;
    Profile *made = mem_zero(1, sizeof *made);
    Status status = made ? open_checked(made, path, diag) : STATUS_NO_MEMORY;
    if (status == STATUS_NO_MEMORY) diag_text(diag, DIAG_ERROR, path, 0, 0, "out of memory");
    if (status != STATUS_OK) {
        profile_close(made);
        return status;
    }
    *profile = made;
    return STATUS_OK;
}

void profile_close(Profile *profile) {
    if (!profile) return;
    for (u32 i = 0; i < PROFILE_STATEMENT_COUNT; i++) sqlite3_finalize(profile->statements[i]);
    sqlite3_close(profile->db);
    map_free(&profile->metrics);
    map_free(&profile->files);
    map_free(&profile->function_index);
    map_free(&profile->lines);
    map_free(&profile->launches);
    map_free(&profile->places);
    map_free(&profile->samples);
    vec_free(&profile->file_rows);
    vec_free(&profile->lists);
    mem_free(profile->totals);
    mem_free(profile->program);
    intern_free(&profile->texts);
    arena_free(&profile->arena);
    mem_free(profile);
}
